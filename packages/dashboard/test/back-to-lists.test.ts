/** Going back from an item to its list restores the list: its filters, its pages and its position. */

import assert from "node:assert/strict";
import { before } from "node:test";
import type { Browser, Page } from "playwright-core";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { startShopApp } from "./support/app.ts";
import { openPage } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

const scrollTo = (page: Page, top: number) => page.evaluate(`document.querySelector('.list-scroll').scrollTo(0, ${top})`);
const position = (page: Page) => page.evaluate("document.querySelector('.list-scroll')?.scrollTop ?? -1") as Promise<number>;

/** Scrolls until the list is long enough. */
async function scrollDown(page: Page, top: number): Promise<void> {
  await until("the position", async () => {
    await scrollTo(page, top);
    return (await position(page)) === top;
  });
}

/** A row in the middle of the window: a click on one of its ends would scroll. */
async function openRow(page: Page): Promise<void> {
  await until("a row to click", () => page.evaluate("document.elementFromPoint(500, 500)?.closest('.list-scroll a') != null"));
  await page.mouse.click(500, 500);
}

test("back from a run or an event restores filters, pages and position", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  await service.send(Array.from({ length: 160 }, (_, n) => ({ name: "shop/cart.left", data: { n } })));
  await until("all runs", async () => (await service.rest("GET", "/runs?limit=100&status=waiting")).body.data.length === 100);
  const page = await openPage(t, browser, `${service.url}/env/dev/runs?status=waiting`);
  await page.getByRole("listitem").first().waitFor();
  await scrollDown(page, 4_000);
  await openRow(page);
  await page.getByRole("heading", { name: "Remind of the cart" }).waitFor();
  await service.send(Array.from({ length: 60 }, (_, n) => ({ name: "shop/cart.left", data: { n, later: true } })));
  await page.goBack();
  await page.waitForURL("**/runs?status=waiting");
  await until("the position", async () => (await position(page)) === 4_000);

  await openRow(page);
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "Runs" }).click();
  await page.waitForURL("**/runs?status=waiting");
  await until("the position", async () => (await position(page)) === 4_000);

  await page.getByRole("link", { name: "Events", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Events" }).waitFor();
  await page.getByRole("listitem").first().waitFor();
  await scrollDown(page, 3_000);
  await openRow(page);
  await page.getByRole("complementary", { name: "Event" }).getByRole("link", { name: "Remind of the cart" }).click();
  await page.getByRole("heading", { name: "Remind of the cart" }).waitFor();
  await service.send(Array.from({ length: 120 }, (_, n) => ({ name: "shop/other", data: { n } })));
  await page.goBack();
  await until("the position", async () => (await position(page)) === 3_000);
  await page.getByRole("button", { name: "120 new events" }).waitFor();
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  await page.getByRole("listitem").first().waitFor();
  assert.equal(await position(page), 0, "a list that is opened anew begins at its top");
});
