/** Raised alerts change no layout: every page keeps its width, and nothing leaves the window, at three widths. */

import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { assertAccessible } from "./support/axe.ts";
import { openPage, visit } from "./support/browser.ts";
import { startDemo } from "./support/demo.ts";
import { routesOf } from "./support/routes.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

const WIDTHS = [1280, 820, 390];

/** What is wrong with the layout; a page in a list is as wide as the window allows. */
const FAULTS = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const main = document.querySelector("main");
  const page = main.querySelector(":scope > .page");
  const faults = [];
  const limit = Number.parseFloat(getComputedStyle(page).maxWidth) || Infinity;
  if (page.offsetWidth < Math.min(main.clientWidth, limit) - 1) faults.push("the page is only " + page.offsetWidth + " px wide");
  for (const element of [document.documentElement, main])
    if (element.scrollWidth > element.clientWidth) faults.push(element.tagName + " is " + element.scrollWidth + " px wide");
  if (page.matches(".full") && page.offsetHeight < 300) faults.push("the list is only " + page.offsetHeight + " px high");
  for (const button of main.querySelectorAll(".page-head button, .page-head a.button"))
    if (button.checkVisibility() && button.getBoundingClientRect().right > innerWidth) faults.push("outside: " + button.textContent);
  done(faults);
})))`;

async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 });
    for (const fault of (await page.evaluate(FAULTS)) as string[]) faults.push(`${width} px: ${fault}`);
  }
  await page.setViewportSize({ width: 1280, height: 844 });
  return faults;
}

test("with raised alerts, every page keeps its layout at every width", { timeout: 1_800_000 }, async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const demo = await startDemo(service);
  onEnd(t, () => demo.stop());
  const names = [1, 2, 3, 4, 5].map((n) => `nobody_listens_to_these_events_of_the_shop_although_they_matter_${n}`);
  for (const name of names) await service.rest("POST", "/alert-rules", { body: { name, kind: "unmatched_events", threshold: 1 } });
  await service.send({ name: "shop/unheard", data: {} });
  await until("the alerts", async () => (await service.rest("GET", "/alerts")).body.data.length === names.length);

  const page = await openPage(t, browser, `${service.url}/env/dev`, { allow: /404|ERR_CONNECTION_REFUSED/ });
  const banner = page.getByRole("alert").filter({ hasText: "5 alerts are raised: " });
  await banner.getByText("and 2 more").waitFor();
  await assertAccessible(page, "the overview with alerts", { rules: ["color-contrast", "region"] });
  const faults: Record<string, string[]> = {};
  // What is missing has no page of its own, whose layout could change.
  const pages = demo.pages.filter(({ name, path }) => path.startsWith("/env/dev") && !name.endsWith("-missing"));
  await routesOf(
    page,
    pages.map(({ path }) => path),
    { inShell: true },
  );
  for (const { name, path, ready } of pages) {
    await visit(page, path);
    await page.getByText(ready).filter({ visible: true }).first().waitFor();
    await banner.waitFor();
    // Charts and pages are laid out when their parts are loaded.
    await until("a sound layout", async () => {
      faults[name] = await faultsOf(page);
      return faults[name].length === 0;
    }).catch(() => {});
  }
  assert.deepEqual(
    Object.entries(faults).filter(([, found]) => found.length > 0),
    [],
  );
});
