/** Outages and upgrades: the dashboard says so, recovers by itself, and takes a new version with the next navigation. */

import assert from "node:assert/strict";
import { before, type TestContext, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { startShopApp } from "./support/app.ts";
import { openPage } from "./support/browser.ts";
import { startDemo } from "./support/demo.ts";
import { POLLED_WITHIN_MS, untilPolled } from "./support/polled.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

const AWAY = /ERR_|404|Failed to fetch dynamically|could not be loaded/;

/** Without loading the whole dashboard again. */
const go = (page: Page, path: string) =>
  page.evaluate(`history.pushState(null, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate", { state: null }))`);

const PARTS = ["observe-pages", "build-pages", "manage-pages", "charts"];

/** A page that has loaded the files of all others. */
async function openPreloaded(t: TestContext, address: string): Promise<Page> {
  const page = await openPage(t, browser, "about:blank", { allow: AWAY });
  const wanted = new Set<string>();
  const loaded = new Set<string>();
  page.on("request", (request) => request.url().includes("/assets/") && wanted.add(request.url()));
  page.on("requestfinished", (request) => loaded.add(request.url()));
  await page.goto(address);
  const isLoaded = () => [...wanted].every((url) => loaded.has(url));
  const isWanted = (part: string) => [...wanted].some((url) => url.includes(part));
  await until("the other pages", async () => PARTS.every(isWanted) && isLoaded());
  await page.evaluate("window.isSameDocument = true");
  return page;
}

/** False once the dashboard was loaded again. */
const isSameDocument = (page: Page) => page.evaluate("window.isSameDocument === true");

test("a page opened during an outage says so, and opens by itself when the service is back", { timeout: 600_000 }, async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const demo = await startDemo(service);
  onEnd(t, () => demo.stop());
  const page = await openPreloaded(t, `${service.url}/env/dev`);
  const opened = new Set(["events", "failures", "function", "webhook-requests", "keys"]);
  for (const { path, ready } of demo.pages.filter(({ name }) => opened.has(name))) {
    await page.context().setOffline(true);
    await go(page, path);
    await page.getByRole("status").getByText("No connection to the service. It last responded").waitFor();
    await page.context().setOffline(false);
    await page.getByText(ready).filter({ visible: true }).first().waitFor();
    await page.getByText("No connection to the service").waitFor({ state: "detached" });
  }
  assert.equal(await isSameDocument(page), true, "nothing was lost by loading the dashboard again");
});

/** Pages that poll, each with the path that they poll, the button of a dialog and a field. */
const typed = (runId: string, webhookId: string) => [
  { path: "/env/dev/functions/shop-remind", polled: "/v1/functions?", opener: "Invoke", field: "Data" },
  { path: `/env/dev/runs/${runId}`, polled: `/v1/runs/${runId}`, opener: "Edit event and rerun", field: /^Event/ },
  { path: "/env/dev/event-types/shop%2Fcart.left", polled: "/v1/event-types/shop", opener: null, field: "JSON Schema of data" },
  { path: "/env/dev/environments", polled: "/v1/environments?", opener: "Custom environment", field: "Name" },
  { path: `/env/dev/webhooks/${webhookId}?tab=reconcile`, polled: "/reconciliations?", opener: null, field: /^Look back/ },
];

test("what was typed stays when polls fail, and an object that is gone is said to be gone", { timeout: 600_000 }, async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  await service.send({ name: "shop/cart.left", data: { cart: "c_1" } });
  const run = await until("the run", async () => (await service.rest("GET", "/runs")).body.data[0]);
  const transform = "(evt) => ({ name: 'shop/sale', data: evt })";
  const reconcile = { preset: "stripe", secrets: ["sk_test_of_nobody"] };
  const webhook = (await service.rest("POST", "/webhooks", { body: { name: "Hook", transform, reconcile } })).body.data;
  const page = await openPage(t, browser, "about:blank", { allow: AWAY });
  await page.clock.install();
  await page.goto(`${service.url}/env/dev/settings`);
  for (const { path, polled, opener, field } of typed(run.id, webhook.id)) {
    await go(page, path);
    if (opener !== null) await page.getByRole("button", { name: opener, exact: true }).click();
    const input = page.getByRole("textbox", { name: field });
    await input.fill("typed by hand");
    const failed = page.waitForEvent("requestfailed", (request) => request.url().includes(polled));
    await page.context().setOffline(true);
    await page.clock.fastForward(POLLED_WITHIN_MS);
    await failed;
    await page.getByText("No connection to the service").waitFor();
    await page.context().setOffline(false);
    await page.getByText("No connection to the service").waitFor({ state: "detached" });
    assert.equal(await input.inputValue({ timeout: 5_000 }), "typed by hand", path);
    await page.keyboard.press("Escape");
  }
  await go(page, "/env/dev/event-types/shop%2Fcart.left");
  await page.getByRole("textbox", { name: "JSON Schema of data" }).waitFor();
  await page.route("**/v1/event-types/shop*", (route) => route.fulfill({ status: 404, json: { code: "not_found", error: "It is gone." } }));
  await untilPolled(page.getByRole("heading", { name: "This event type could not be loaded" }));
});

test("a page whose file cannot be loaded opens by itself, during an outage and after an upgrade", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  for (const [kind, fail] of [
    ["outage", { abort: true }],
    ["upgrade", { abort: false }],
  ] as const) {
    const page = await openPage(t, browser, "about:blank", { allow: AWAY });
    let isMissing = true;
    await page.route(/\/assets\/(manage-pages|chart)-.*\.js/, (route) => {
      if (!isMissing) return route.fallback();
      return fail.abort ? route.abort() : route.fulfill({ status: 404, json: { error: "There is no such file." } });
    });
    if (fail.abort) await page.route("**/health", (route) => (isMissing ? route.abort() : route.fallback()));
    // Loading the dashboard again brings the files of the new version.
    else
      await page.route("**/env/dev/keys", (route) => {
        isMissing = false;
        return route.fallback();
      });
    await page.goto(`${service.url}/env/dev/event-types`);
    await page.getByRole("heading", { name: "Event types" }).waitFor();
    await go(page, "/env/dev/keys");
    if (fail.abort) {
      await page.getByRole("heading", { name: "Waiting for the service" }).waitFor();
      isMissing = false;
    }
    await page.getByRole("button", { name: "New event key" }).waitFor();
    assert.equal(isMissing, false, kind);
  }
});

test("a new version is announced, and the next navigation loads it", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const page = await openPreloaded(t, `${service.url}/env/dev/keys`);
  await page.route(`${service.url}/`, async (route) => {
    const response = await route.fetch();
    return route.fulfill({ response, body: (await response.text()).replace(/index-[\w-]+\.js/, "index-another.js") });
  });
  await page.context().setOffline(true);
  await go(page, "/env/dev/apps");
  await page.getByText("No connection to the service").waitFor();
  await page.context().setOffline(false);
  await page.getByRole("status").getByText("A new version of Inlet is running").waitFor();
  assert.equal(await isSameDocument(page), true, "the page that is open stays as it is");
  await page.getByRole("link", { name: "Alerts" }).click();
  await page.getByText("No alert rules yet").waitFor();
  await until("the new version", async () => !(await isSameDocument(page).catch(() => true)));
  await page.getByText("No alert rules yet").waitFor();
  assert.equal(new URL(page.url()).pathname, "/env/dev/alerts");
});
