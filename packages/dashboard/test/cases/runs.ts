/** Functions and runs: live updates, cancel, rerun. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { startTestService, type TestService } from "../../../server/test/support/service.ts";
import { startShopApp } from "../support/app.ts";
import { openPage, visit } from "../support/browser.ts";
import { until } from "../support/until.ts";

async function startShop(t: TestContext) {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  return { service, app };
}

async function sync(service: TestService, url: string): Promise<void> {
  const { status, text } = await service.rest("POST", "/apps", { body: { url } });
  assert.equal(status, 201, text);
}

export function runCases(browser: () => Browser): void {
  test("a run with several steps updates live and links to its event", async (t) => {
    const { service, app } = await startShop(t);
    const page = await openPage(t, browser(), `${service.url}/env/dev/apps`);
    await page.getByRole("button", { name: "Sync an app" }).click();
    await page.getByRole("textbox", { name: "URL of the app's endpoint" }).fill(app.url);
    await page.getByRole("dialog").getByRole("button", { name: "Sync" }).click();
    await page.getByText("shop synced: 6 functions").waitFor();
    await page.getByRole("link", { name: "Functions" }).click();
    await page.getByRole("link", { name: "Fulfil order" }).waitFor();

    const [id] = (await service.send('{"name":"shop/order.created","data":{"orderId":9007199254740993}}')).body.ids;
    await visit(page, `/env/dev/events/${id}`);
    await page.getByRole("link", { name: /Fulfil order/ }).click();
    await page.getByRole("heading", { name: "Fulfil order" }).waitFor();
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.getByRole("button", { name: /Buy a label\s*Completed/ }).waitFor();
    await timeline.getByRole("button", { name: /Let the warehouse breathe\s*(?:wakes|woke) [\d:]+.*\s*(?:Sleeping|Completed)/ }).waitFor();
    await timeline.getByRole("button", { name: /Let the warehouse breathe\s*woke [\d:]+\s*Completed/ }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Cancel" }).count(), 1, "it is unfinished");
    app.open();
    await timeline.getByRole("button", { name: /Pack the parcel\s*Completed/ }).waitFor();
    await page.getByRole("region", { name: "Output" }).getByText("shipped").waitFor();
    await page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });

    const calls = page.getByRole("region", { name: "Calls" });
    await calls
      .getByRole("button", { name: /HTTP 206\s*Buy a label/ })
      .first()
      .click();
    const request = calls.getByRole("region", { name: "Request" });
    await request.getByText(`shop/order.created (${id})`).waitFor();
    await request.getByText("none completed").waitFor();
    await calls.getByRole("region", { name: "Response" }).getByText("Buy a label").waitFor();
    await calls.getByRole("button", { name: /HTTP 200\s*Function/ }).click();
    await request.getByText("Buy a label, Let the warehouse breathe, Pack the parcel, Announce it").waitFor();
    assert.match(String(await request.textContent()), /POST \/api\/inlet\?\S*fnId=shop-fulfil/);

    await timeline.getByRole("button", { name: /Buy a label/ }).click();
    await timeline.getByRole("region", { name: "Output" }).getByText("tracking").waitFor();
    const logged = timeline.getByRole("region", { name: "Log", exact: true });
    await logged.getByText(/^[\d:.]+ warn {2}The carrier is slow \{"carrier":"DHL"\}$/).waitFor();
    await timeline
      .getByRole("region", { name: "Log outside steps" })
      .getByText(/ info {2}Order \d+$/)
      .waitFor();
    await page.getByRole("link", { name: "shop/order.created" }).click();
    await page.waitForURL(`**/events/${id}`);

    const [shipped] = (await service.rest("GET", "/events?name=shop/order.shipped")).body.data;
    await visit(page, `/env/dev/events/${shipped.id}`);
    await page.getByRole("complementary", { name: "Event" }).getByRole("link", { name: shipped.source.run }).click();
    await page.getByRole("heading", { name: "Fulfil order" }).waitFor();
  });

  test("a run that changes faster than it loads is loaded one time after the other, and its last change is shown", async (t) => {
    const { service, app } = await startShop(t);
    await sync(service, app.url);
    const [event] = (await service.send({ name: "shop/cart.left", data: { asks: true } })).body.ids;
    const run = async () => (await service.rest("GET", `/events/${event}/runs`)).body.data[0];
    const { id } = await until("the sleep", async () => (await run())?.status === "sleeping" && run());
    const page = await openPage(t, browser(), "about:blank");
    const stream = page.waitForResponse((response) => response.url().includes("/runs/stream"));
    await page.goto(`${service.url}/env/dev/runs/${id}`);
    await page.getByRole("button", { name: /^Until tomorrow/ }).waitFor();
    await stream;

    const changed = Promise.withResolvers<void>();
    let loads = 0;
    await page.route(`**/v1/runs/${id}`, async (route) => {
      loads++;
      const response = await route.fetch();
      await changed.promise;
      await route.fulfill({ response });
    });
    const [sleep] = (await service.rest("GET", `/runs/${id}`)).body.data.steps;
    await service.rest("POST", `/runs/${id}/steps/${sleep.id}/wake`);
    await until("the wait", async () => (await run()).status === "waiting");
    await until("a load", async () => loads > 0);
    await service.rest("POST", "/signals", { body: { signal: "discount", data: {} } });
    await until("the end", async () => (await run()).status === "completed");
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert.equal(loads, 1, "a load under way is not dropped");
    changed.resolve();
    await page.locator(".page-head").getByText("Completed").waitFor();
    await page.unrouteAll({ behavior: "wait" });
  });

  test("the timeline tells queue wait, execution and retry wait apart, and collapses repeated steps; the trace is linked", async (t) => {
    const flags = ["--retry-interval", "300ms", "--trace-url", "https://traces.example/trace/{traceId}"];
    const service = await startTestService(t, { mode: "dev", flags });
    const app = await startShopApp(service.url);
    onEnd(t, () => app.stop());
    await sync(service, app.url);
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    const [id] = (await service.send({ name: "shop/month.ended", data: {} }, { headers })).body.ids;
    const run = await until("the run to end", async () => {
      const [found] = (await service.rest("GET", `/events/${id}/runs`)).body.data;
      return found?.status === "completed" && found;
    });
    const page = await openPage(t, browser(), `${service.url}/env/dev/runs/${run.id}`);
    const timeline = page.getByRole("region", { name: "Timeline" });
    for (const phase of ["Queue wait", "Execution", "Failed execution", "Retry wait"])
      await timeline.locator(".card-head").getByText(phase, { exact: true }).waitFor();
    const step = timeline.getByRole("button", { name: /^Ask the ledger/ });
    const phases = String(await step.textContent());
    assert.match(phases, /Failed execution [\d.,]+ m?s.*Retry wait [\d.,]+ m?s.*Execution [\d.,]+ m?s/);
    const [, waited, unit] = /Retry wait ([\d.,]+) (m?s)/.exec(phases) ?? [];
    assert.ok(Number(waited?.replaceAll(",", "")) * (unit === "s" ? 1_000 : 1) >= 250, `a retry is waited for, not executed: ${phases}`);
    for (const attempt of [1, 2, 3]) await timeline.getByText(`Attempt ${attempt}`).waitFor();
    await timeline.getByText("The ledger is locked").first().waitFor();
    const group = timeline.getByRole("button", { name: /Write an invoice × 4/ });
    assert.equal(await timeline.getByRole("button", { name: /^Write an invoice/ }).count(), 1);
    await group.click();
    await until("the group to open", async () => (await timeline.getByRole("button", { name: /^Write an invoice/ }).count()) === 5);
    const link = page.locator(".fact-strip").getByRole("link", { name: traceId });
    assert.equal(await link.getAttribute("href"), `https://traces.example/trace/${traceId}`);
    const ticks = await timeline.locator(".timeline-tick").allTextContents();
    assert.match(ticks.at(-1) ?? "", /^[\d,]+(?:\.\d+)? m?s$/, "the last tick is the whole duration");
  });

  test("a run is cancelled and rerun; a failed run shows its error", async (t) => {
    const { service, app } = await startShop(t);
    await sync(service, app.url);
    await service.send({ name: "shop/cart.left", data: {} });
    const page = await openPage(t, browser(), `${service.url}/env/dev/runs?status=waiting`);
    await page.getByRole("listitem").filter({ hasText: "Remind of the cart" }).click();
    const timeline = page.getByRole("region", { name: "Timeline" });
    const waiting = timeline.getByRole("button", {
      name: /Until they pay\s*for shop\/order\.created, times out [^W]+, in [^W]*Waiting/,
    });
    await waiting.waitFor();
    const cancelled = page.url();
    await page.getByRole("button", { name: "Cancel" }).click();
    const dialog = page.getByRole("dialog", { name: "Cancel this run?" });
    // The focus is on the button that keeps the run.
    await dialog.getByRole("button", { name: "Cancel", exact: true }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    assert.equal((await service.rest("GET", `/runs/${cancelled.split("/").at(-1)}`)).body.data.status, "waiting", "nothing was cancelled");
    await page.getByRole("button", { name: "Cancel" }).click();
    await dialog.getByRole("button", { name: "Cancel run" }).click();
    await page.locator(".page-head").getByText("Cancelled").waitFor();
    await page.getByRole("button", { name: "Rerun", exact: true }).click();
    await until("the new run", async () => page.url() !== cancelled);
    await page.getByText("Rerun of").waitFor();
    await waiting.waitFor();

    const [resumer] = (await service.send({ name: "shop/order.created", data: { orderId: 1 } })).body.ids;
    await page.locator(".page-head").getByText("Completed").waitFor();
    await timeline.getByRole("button", { name: /Until they pay/ }).click();
    await page.route(/\/v1\/events\/\w+\/runs\?/, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), page: { next: "more" } } });
    });
    await page.getByRole("link", { name: resumer }).click();
    await page.waitForURL(`**/events/${resumer}`);
    const panel = page.getByRole("complementary", { name: "Event" });
    await panel
      .getByRole("region", { name: "Resumed runs" })
      .getByRole("link", { name: /Completed\s*Remind of the cart/ })
      .waitFor();

    await panel.getByRole("region", { name: "Resumed runs" }).getByText("These are the newest 1. There are more.").waitFor();
    const all = panel.getByRole("region", { name: "Runs", exact: true }).getByRole("link", { name: "Show all" });
    assert.equal(await all.getAttribute("href"), `/env/dev/runs?event=${resumer}`);

    await service.send({ name: "shop/cart.left", data: {} });
    await until("the wait", async () => (await service.rest("GET", "/runs?status=waiting")).body.data.length === 1);
    const [deletion] = (await service.send({ name: "shop/cart.deleted", data: {} })).body.ids;
    await visit(page, `/env/dev/events/${deletion}`);
    await panel
      .getByRole("region", { name: "Cancelled runs" })
      .getByRole("link", { name: /Cancelled\s*Remind of the cart/ })
      .click();
    await page.locator(".fact-strip").getByRole("link", { name: deletion }).click();
    await page.waitForURL(`**/events/${deletion}`);

    const [asked] = (await service.send({ name: "shop/cart.left", data: { asks: true } })).body.ids;
    const asking = await until("the sleep", async () => {
      const [run] = (await service.rest("GET", `/events/${asked}/runs`)).body.data;
      return run?.status === "sleeping" && run;
    });
    await visit(page, `/env/dev/runs/${asking.id}`);
    await page.getByRole("button", { name: /^Until tomorrow/ }).click();
    await page.getByRole("button", { name: "Wake now" }).click();
    await page.getByRole("button", { name: /^Until tomorrow\s*woke/ }).waitFor();
    await page.getByRole("button", { name: /^Until somebody agrees/ }).click();
    await page.getByRole("button", { name: "Send signal" }).click();
    const signal = page.getByRole("dialog", { name: "Send the signal" });
    await signal.getByRole("textbox", { name: "Data" }).fill("{");
    await signal.getByRole("button", { name: "Send signal" }).click();
    await signal.getByText("The data is not valid JSON.").waitFor();
    await signal.getByRole("textbox", { name: "Data" }).fill('{"percent":10,"ledger":9007199254740993}');
    await signal.getByRole("button", { name: "Send signal" }).click();
    await page.locator(".page-head").getByText("Completed").waitFor();
    await page.getByText("9007199254740993").first().waitFor();

    await service.send({ name: "shop/payment.due", data: {} });
    await visit(page, "/env/dev/runs");
    await page
      .getByRole("listitem")
      .filter({ hasText: /Failed\s*Charge card/ })
      .click();
    await page.getByText("The card was declined").first().waitFor();
    await page.getByRole("button", { name: "Go to the failed step" }).click();
    await page.getByRole("button", { name: /^Ask the bank/, expanded: true }).waitFor();
    const failed = page.getByRole("region", { name: "Calls" });
    await failed
      .getByRole("button", { name: /HTTP \d+/ })
      .first()
      .click();
    await failed.getByRole("region", { name: "Response" }).getByText("The card was declined").waitFor();
    await page.getByRole("button", { name: "Show stack" }).first().click();
    await page.locator("pre").filter({ hasText: "app.ts" }).first().waitFor();
  });
}
