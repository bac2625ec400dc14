/** Every page, light and dark, wide and narrow: no serious axe finding, no layout shift, no horizontal overflow, few requests. */

import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { testOnPostgres as test } from "../../../server/test/support/both-stores.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { startTestService } from "../../../server/test/support/service.ts";
import { assertAccessible } from "../support/axe.ts";
import { openPage } from "../support/browser.ts";
import { startDemo } from "../support/demo.ts";
import { routesOf } from "../support/routes.ts";
import { until } from "../support/until.ts";

const NARROW_PX = 390;
/** Lists whose rows are blocks on a phone. */
const STACKED: ReadonlySet<string> = new Set([
  ...["event-types", "functions", "jobs", "alerts", "webhooks", "environments", "audit-log", "keys", "approvals"],
]);

/** The threshold that web.dev rates as good. */
const LAYOUT_SHIFT_MAX = 0.1;
const LAYOUT_SHIFT = `new Promise((done) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => (sum += entry.value))).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 100);
})`;

/** With the files of all other pages, which are loaded in advance. */
const REQUESTS_MAX = 25;
const FILES_OF_PAGES = ["observe-pages", "build-pages", "manage-pages", "charts"];

export function accessibilityCases(browser: () => Browser): void {
  test("every page is accessible, has no layout shift, fits a phone, and takes at most 25 requests", { timeout: 1_800_000 }, async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const demo = await startDemo(service);
    onEnd(t, () => demo.stop());
    const page = await openPage(t, browser(), service.url, { allow: /404|ERR_CONNECTION_REFUSED/, colorScheme: "light" });
    await page.getByRole("main").waitFor();
    await routesOf(
      page,
      demo.pages.map(({ path }) => path),
    );
    const requests = watchRequests(page);
    for (const { name, path, ready } of demo.pages) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
      requests.clear();
      await page.goto(service.url + path);
      await page.getByText(ready).filter({ visible: true }).first().waitFor();
      await assertSteady(page, name);
      await assertAccessible(page, `${name}, light`);
      await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
      // What surrounds a page is the same on all.
      const within = path === demo.pages[0]?.path ? "body" : "main";
      await assertAccessible(page, `${name}, dark`, { rules: ["color-contrast"], within });
      await assertFits(page, name);
      await until("the other pages", async () => FILES_OF_PAGES.every((part) => [...requests].some((url) => url.includes(part))));
      t.diagnostic(`${name}: ${requests.size} requests`);
      assert.ok(requests.size <= REQUESTS_MAX, `${name} takes ${requests.size} requests: ${[...requests].join(" ")}`);
    }
  });
}

/**
 * What the page has asked for since the set was cleared. The same question again is not counted, whatever time it names: a page polls, the
 * more often the slower the machine is.
 */
function watchRequests(page: Page): Set<string> {
  const requests = new Set<string>();
  page.on("request", (request) => requests.add(`${request.method()} ${request.url().replace(/\b(from|to|since|ids)=[^&]*/g, "$1")}`));
  return requests;
}

async function assertSteady(page: Page, name: string): Promise<void> {
  const shift = (await page.evaluate(LAYOUT_SHIFT)) as number;
  assert.ok(shift < LAYOUT_SHIFT_MAX, `${name} jumped by ${shift}`);
}

async function assertFits(page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: NARROW_PX, height: 844 });
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  const wide = (await page.evaluate(
    "[document.documentElement, document.querySelector('main')].map((element) => element.scrollWidth - element.clientWidth)",
  )) as number[];
  if (!STACKED.has(name)) return assertNarrow(wide, name);
  const tables = (await page.evaluate(
    "[...document.querySelectorAll('.table-wrap, .scroll-x')].filter((table) => table.scrollWidth > table.clientWidth + 1).length",
  )) as number;
  assert.equal(tables, 0, `${name} hides values behind the edge of a table`);
  assertNarrow(wide, name);
}

function assertNarrow(wide: readonly number[], name: string): void {
  assert.deepEqual(
    wide.map((extra) => extra > 0),
    [false, false],
    `${name} is wider than ${NARROW_PX} px by ${wide}`,
  );
}
