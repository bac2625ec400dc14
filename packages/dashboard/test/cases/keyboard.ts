/** Keyboard, time zone, and what is in the address. */

import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { call, startTestService } from "../../../server/test/support/service.ts";
import { startShopApp } from "../support/app.ts";
import { openPage, visit } from "../support/browser.ts";
import { until } from "../support/until.ts";

/** Requests of a webhook. */
const MORE_THAN_A_PAGE = 21;

export function keyboardCases(browser: () => Browser): void {
  test("the palette opens pages, functions, event types and environments, does things, and finds any id; times are exact on a phone", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const app = await startShopApp(service.url);
    onEnd(t, () => app.stop());
    await service.rest("POST", "/apps", { body: { url: app.url } });
    await service.rest("POST", "/environments", { body: { name: "staging" } });
    const [id] = (await service.send({ name: "shop/payment.due", id: "invoice-7", data: {} })).body.ids;
    const run = await until("a failure", async () => (await service.rest("GET", "/runs?status=failed")).body.data[0]);
    const page = await openPage(t, browser(), `${service.url}/env/dev`, { allow: /404/ });
    await page.getByRole("heading", { name: "dev" }).waitFor();
    const choose = async (text: string, option: RegExp) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: /^Page, function/ }).fill(text);
      await page.getByRole("option", { name: option, selected: true }).waitFor();
      await page.keyboard.press("Enter");
    };
    await choose("event t", /^Event types\s*Page/);
    await page.waitForURL("**/env/dev/event-types");
    await choose("charge", /^Charge card\s*Function/);
    await page.waitForURL("**/functions/shop-charge");
    await choose("payment.due", /^shop\/payment\.due\s*Event type/);
    await page.waitForURL("**/event-types/shop%2Fpayment.due");
    await choose("failed", /^Show failed runs\s*Action/);
    await page.waitForURL("**/runs?status=failed");
    for (const [text, url] of [
      [run.id, `**/runs/${run.id}`],
      [id.toLowerCase(), `**/events/${id}`],
      ["invoice-7", `**/events/${id}?id=invoice-7`],
    ] as const) {
      await choose(text, /^Find/);
      await page.waitForURL(url);
    }
    const transform = "transform = (evt) => ({ name: 'hook/sent', data: evt })";
    const hook = (await service.rest("POST", "/webhooks", { body: { name: "Hook", transform } })).body.data;
    const sendToHook = (body: string) => call(hook.url, { method: "POST", headers: { "content-type": "application/json" }, body });
    await sendToHook('{"sent":"first"}');
    const [request] = (await service.rest("GET", `/webhooks/${hook.id}/requests`)).body.data;
    for (let newer = 0; newer < MORE_THAN_A_PAGE; newer++) await sendToHook("{}");
    await choose(request.id, /^Find/);
    await page.waitForURL(`**/webhooks/${hook.id}?tab=requests&request=${request.id}`);
    const openRequest = page.locator(".run-list li", { has: page.locator(".request-details") });
    await page.getByRole("button", { name: "Older requests" }).waitFor();
    await openRequest.getByText('"first"').waitFor();
    await openRequest.getByRole("button", { name: /200 accepted/ }).click();
    await page.waitForURL(`**/webhooks/${hook.id}?tab=requests`);
    await visit(page, `/env/dev/webhooks/${hook.id}?tab=requests&request=req_${run.id.toLowerCase()}`);
    await page.getByRole("alert").filter({ hasText: "This request could not be loaded" }).waitFor();
    await choose("staging", /^staging\s*Environment/);
    await page.waitForURL("**/env/staging");
    await choose(run.id, /^Find/);
    await page.waitForURL(`**/env/dev/runs/${run.id}`);

    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).getByText("Next row of a list").waitFor();
    await page.keyboard.press("Escape");
    await until("the help to close", async () => (await page.getByRole("dialog").count()) === 0);

    await service.send({ name: "a/b", data: {} });
    await showTimes(page);
  });

  test("j, k, Enter and Escape move through a list; times are shown in UTC when asked for", async (t) => {
    const service = await startTestService(t, { mode: "dev", now: () => Date.parse("2026-01-31T23:30:15.250Z") });
    await service.send([1, 2, 3].map((n) => ({ name: `a/${n}`, data: {} })));
    const page = await openPage(t, browser(), `${service.url}/env/dev/events`, { timezoneId: "Asia/Tokyo" });
    const row = (n: number) => page.getByRole("listitem").nth(n);
    await row(2).waitFor();
    for (const [key, at] of [
      ["j", 0],
      ["j", 1],
      ["ArrowDown", 2],
      ["k", 1],
    ] as const) {
      await page.keyboard.press(key);
      await row(at).locator("a:focus").waitFor();
    }
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Event" });
    await panel.getByText(/01 Feb 2026, 08:30:15\.250 (?:GMT\+9|JST)/).waitFor();
    await page.getByRole("button", { name: /^Times in (?:GMT\+9|JST)\. Change to UTC/ }).click();
    await panel.getByText("31 Jan 2026, 23:30:15.250 UTC").waitFor();
    await panel.getByRole("heading", { name: "a/2" }).waitFor();
    await page.keyboard.press("k");
    await panel.getByRole("heading", { name: "a/3" }).waitFor();
    await page.keyboard.press("j");
    await panel.getByRole("heading", { name: "a/2" }).waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL("**/env/dev/events");
    for (const [key, path] of [
      ["r", "runs"],
      ["k", "keys"],
      ["e", "events"],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.waitForURL(`**/env/dev/${path}`);
    }
    await page.reload();
    await page.getByRole("button", { name: /^Times in UTC/ }).waitFor();
    await row(0).getByText("31 Jan, 23:30:15").waitFor();
  });
}

/** The span of the overview is in its address, and exact times are shown on a phone. */
async function showTimes(page: Page): Promise<void> {
  await visit(page, "/env/dev?span=1h");
  assert.equal(await page.getByRole("button", { name: "1h", exact: true }).getAttribute("aria-pressed"), "true");
  await page.getByRole("button", { name: "7d", exact: true }).click();
  await page.waitForURL("**/env/dev?span=7d");
  await visit(page, "/env/dev/event-types");
  await page
    .getByText("just now")
    .or(page.getByText(/\d (?:s|min) ago/))
    .first()
    .waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page
    .locator("time")
    .getByText(/^(?:\d\d \w{3}, )?\d\d:\d\d:\d\d$/)
    .first()
    .waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("a text that is to be seen while it is typed");
  const search = page.getByRole("searchbox", { name: /^Find an event/ });
  assert.ok(((await search.boundingBox())?.width ?? 0) > 300, "what is typed is seen");
  await search.blur();
  const cell = page.getByRole("link", { name: "a/b" });
  assert.ok(((await cell.boundingBox())?.x ?? 999) < 390, "readable without scrolling");
  assert.equal(
    await page.evaluate("document.querySelector('.table-wrap').scrollWidth <= document.querySelector('.table-wrap').clientWidth"),
    true,
  );
}
