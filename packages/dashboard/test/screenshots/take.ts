/**
 * Takes the screenshots in docs/screenshots: every page of the demo service, light and dark, and a few
 * at the width of a phone. `npm run screenshots`.
 */

import { mkdirSync, rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { startTestService, type TestService, temporaryFolder } from "../../../server/test/support/service.ts";
import { startShopApp, VALID_CARD } from "../support/app.ts";
import { launchBrowser, newContext } from "../support/browser.ts";
import { type DemoPage, startDemo } from "../support/demo.ts";
import { until } from "../support/until.ts";

const FOLDER = fileURLToPath(new URL("../../../../docs/screenshots/", import.meta.url));
const NAMES = ["shop/order.paid", "user/signed.up", "billing/invoice.sent", "cart/item.added"];
const QUARTER_MS = 15 * 60_000;
const TELEPHONE = { width: 390, height: 844 };
const ON_A_TELEPHONE = new Set([
  "overview",
  "events",
  "event",
  "event-types",
  "runs",
  "run",
  "failures",
  "jobs",
  "alerts",
  "functions",
  "function",
  "webhook-transform",
]);
/** Charts and editors are drawn shortly after their text appears. */
const SETTLE_MS = 700;

test("screenshots", { timeout: 900_000 }, async (t) => {
  const dataDir = temporaryFolder(t);
  await liveADay(t, dataDir);
  const service = await startTestService(t, { mode: "dev", dataDir });
  const demo = await startDemo(service);
  onEnd(t, () => demo.stop());
  const browser = await launchBrowser();
  onEnd(t, () => browser.close());
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const pages = demo.pages.filter(({ name }) => !name.endsWith("-missing") && name !== "first-steps");
  for (const colorScheme of ["light", "dark"] as const) {
    await shoot(browser, pages, service.url, colorScheme, "");
    const few = demo.pages.filter(({ name }) => ON_A_TELEPHONE.has(name));
    if (colorScheme === "light") await shoot(browser, few, service.url, colorScheme, "-telephone");
  }
});

/** A service whose clock covers the last day, so that charts have data. */
async function liveADay(t: TestContext, dataDir: string): Promise<void> {
  let age = 0;
  const service = await startTestService(t, { mode: "dev", dataDir, now: () => Date.now() - age });
  const app = await startShopApp(service.url);
  await service.rest("POST", "/apps", { body: { url: app.url } });
  await sendADay(service, (ms) => {
    age = ms;
  });
  await app.stop();
  await service.stop();
}

/** Traffic of a shop: low at night, high during the day. */
async function sendADay(service: TestService, setAge: (ms: number) => void): Promise<void> {
  for (let quarter = 95; quarter > 0; quarter--) {
    setAge(quarter * QUARTER_MS);
    const wave = 9 + 7 * Math.sin((quarter / 96) * 2 * Math.PI + 1) + ((quarter * 7) % 5);
    const events = Array.from({ length: Math.round(wave) }, (_, n) => ({
      name: NAMES[(n + quarter) % NAMES.length],
      data: { orderId: 1000 + quarter * 20 + n },
    }));
    const again = quarter % 6 === 0 ? [{ name: NAMES[0], id: "again", data: {} }] : [];
    await service.send([...events, ...again]);
    if (quarter % 17 === 0) await service.send("not JSON");
    const cards = Array.from({ length: 1 + (quarter % 3) }, (_, n) => (quarter % 7 === 0 && n === 0 ? "tok_expired" : VALID_CARD));
    await service.send(cards.map((card, n) => ({ name: "shop/payment.due", data: { orderId: 1000 + quarter * 20 + n, card } })));
    await until("the runs to end", async () => (await service.rest("GET", "/stats")).body.data.queue.waiting === 0);
  }
}

async function shoot(browser: Browser, pages: DemoPage[], url: string, colorScheme: "light" | "dark", suffix: string): Promise<void> {
  const viewport = suffix === "" ? { width: 1280, height: 800 } : TELEPHONE;
  const context = await newContext(browser, { colorScheme, viewport, reducedMotion: "reduce" });
  const page = await context.newPage();
  for (const { name, path, ready } of pages) {
    await page.goto(url + path);
    await page.getByText(ready).filter({ visible: true }).first().waitFor();
    await settle(page);
    await page.screenshot({ path: `${FOLDER}${name}-${colorScheme}${suffix}.png` });
  }
  await context.close();
}

async function settle(page: Page): Promise<void> {
  await page.locator(".editor-loading, .skeleton").first().waitFor({ state: "detached" });
  await page.getByText("Running…").waitFor({ state: "detached" });
  await page.waitForTimeout(SETTLE_MS);
}
