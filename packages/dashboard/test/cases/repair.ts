/** Repair: jobs with a dry run first, figures of a function, events compared and copied. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { startTestService, type TestService } from "../../../server/test/support/service.ts";
import { startShopApp } from "../support/app.ts";
import { openPage, visit } from "../support/browser.ts";
import { untilPolled } from "../support/polled.ts";
import { until } from "../support/until.ts";

const FAILURES = 3;

async function startFailures(t: TestContext): Promise<TestService> {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  for (let n = 0; n < FAILURES; n++) await service.send({ name: "shop/payment.due", data: { n, card: "tok_visa" } });
  await service.send({ name: "shop/cart.left", data: { cart: "c_81" } });
  await untilFailed(service, FAILURES);
  return service;
}

async function untilFailed(service: TestService, failures: number): Promise<void> {
  await until(`${failures} failures`, async () => (await service.rest("GET", "/runs?status=failed")).body.data.length === failures);
}

export function repairCases(browser: () => Browser): void {
  test("a job is counted by a dry run before it can be started, shows its progress, and leads to its runs; an admin erases what a filter names", async (t) => {
    const service = await startFailures(t);
    const page = await openPage(t, browser(), `${service.url}/env/dev/runs?status=failed`);
    await page.getByText("3 runs in total").waitFor();
    await page.getByRole("button", { name: "All of this list" }).click();
    await page.getByRole("menuitem", { name: "Rerun all runs of this list" }).click();
    const dialog = page.getByRole("dialog", { name: "Rerun runs" });
    await dialog.getByText("3 runs match. Nothing has been done yet.").waitFor();
    await dialog.getByText("The card was declined").first().waitFor();
    assert.equal((await service.rest("GET", "/jobs")).body.data.length, 0, "a dry run starts nothing");
    await dialog.getByRole("button", { name: "Rerun 3 runs" }).click();
    await page.waitForURL("**/jobs/*");
    await page.locator(".page-head").getByText("Completed").waitFor();
    await page.getByRole("region", { name: "Progress" }).getByText("3 of 3").waitFor();
    await untilFailed(service, 2 * FAILURES);
    const job = page.url().split("/").at(-1) ?? "";
    await page.getByRole("link", { name: "Show its runs" }).click();
    await page.getByText("3 runs in total").waitFor();
    await page.getByRole("listitem").first().click();
    await page.getByRole("link", { name: job }).waitFor();
    await page.getByRole("link", { name: "Jobs", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "Rerun runs" }).getByText("status failed").waitFor();

    await visit(page, "/env/dev/events?name=never%2Fsent");
    await page.getByText("No event matches these filters").waitFor();
    await page.getByRole("button", { name: "All of this list" }).click();
    await page.getByRole("menuitem", { name: "Replay all events of this list" }).click();
    await page.getByText("No event matches. There is nothing to do.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Replay", disabled: true }).waitFor();
    await page.keyboard.press("Escape");
    for (const [list, part] of [
      ["failures", "The card was declined"],
      ["jobs", "runs.rerun"],
      ["functions", "shop-charge"],
    ] as const) {
      await visit(page, `/env/dev/${list}`);
      await page.getByRole("button", { name: "Export" }).click();
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "As JSON lines" }).click()]);
      assert.equal(download.suggestedFilename(), `${list}-dev.jsonl`);
      assert.ok(readFileSync(await download.path(), "utf8").includes(part), list);
    }
    await eraseFiltered(page, service);
  });

  test("a function shows its figures, is invoked, and gets events replayed; the figures are those of the lists", async (t) => {
    const service = await startFailures(t);
    const page = await openPage(t, browser(), `${service.url}/env/dev/functions/shop-charge?span=1h`, { allow: /400/ });
    await page.getByRole("img", { name: "Throughput: 3 runs created" }).waitFor();
    await page.getByRole("img", { name: "Failure rate: 100.0 % of ended runs failed" }).waitFor();
    for (const chart of ["Duration", "Queue delay"])
      await page.getByRole("img", { name: `${chart}: median and 95th percentile` }).waitFor();
    await page.getByRole("link", { name: "Functions", exact: true }).first().click();
    await page
      .getByRole("row", { name: /Charge card/ })
      .getByText("100.0 %")
      .waitFor();
    await page.getByRole("row", { name: /Charge card .*\b3 100\.0 %/ }).waitFor();
    await page.goBack();
    const invoke = page.getByRole("dialog", { name: "Invoke Charge card" });
    const broken = { status: 400, json: { error: "Out of order.", code: "request_invalid" } };
    await page.route(/\/v1\/events\?.*limit=1\b/, (route) => route.fulfill(broken), { times: 1 });
    await page.getByRole("button", { name: "Invoke" }).click();
    await invoke.getByRole("alert").filter({ hasText: "The newest event could not be loaded: Out of order." }).waitFor();
    assert.equal(await invoke.getByRole("textbox", { name: "Data" }).inputValue(), "{}");
    await invoke.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Invoke" }).click();
    await until("the newest event", async () =>
      /"card": "tok_visa"/.test(await invoke.getByRole("textbox", { name: "Data" }).inputValue()),
    );
    await invoke.getByRole("button", { name: "Invoke" }).click();
    await page.waitForURL("**/runs/*");
    await untilFailed(service, FAILURES + 1);
    await page.locator(".page-head").getByText("Failed").waitFor();
    const timeline = page.getByRole("region", { name: "Timeline" });
    await timeline.locator(".card-head").getByText("Failed execution", { exact: true }).waitFor();
    assert.equal(await timeline.getByText("Retry wait").count(), 0, "what must not be retried is not waited for");
    await visit(page, "/env/dev/runs?status=failed");
    await page.getByRole("listitem").first().locator(".run-attempts").getByText("1 failed", { exact: true }).waitFor();
    await visit(page, "/env/dev/functions/shop-charge?span=1h");
    await page.getByRole("button", { name: "Replay events" }).click();
    await page.getByRole("button", { name: "Replay 3 events" }).click();
    await page.waitForURL("**/jobs/*");
    await untilFailed(service, 2 * FAILURES + 1);

    await visit(page, "/env/dev?span=1h");
    const tile = async (label: string) =>
      Number(await page.locator(".tile").filter({ hasText: label }).locator(".tile-value").textContent());
    const length = async (path: string) => (await service.rest("GET", `${path}limit=100`)).body.data.length;
    // Figures are written every few seconds.
    for (const [label, path] of [
      ["Events accepted", "/events?internal=false&"],
      ["Runs started", "/runs?"],
      ["Runs failed", "/runs?status=failed&"],
    ] as const)
      await until(`the figure of ${label}`, async () => (await tile(label)) === (await length(path)));

    await service.send({ name: "shop/order.created", data: {} });
    const waiting = async () => (await service.rest("GET", "/runs?status=waiting")).body.data.length;
    await until("the end of the first wait", async () => (await waiting()) === 0);
    await service.send({ name: "shop/cart.left", data: { cart: "c_82" } });
    await until("a wait", async () => (await waiting()) === 1);
    await visit(page, "/env/dev/event-types/shop%2Forder.created");
    await page.getByRole("link", { name: "Remind of the cart: 1 run" }).waitFor();
    await visit(page, "/env/dev/event-types/shop%2Fpayment.due");
    await page.getByRole("region", { name: "Samples" }).getByText("tok_visa").first().waitFor();
  });

  test("failures are grouped by error, and one click reruns a group; runs and events are found by expressions", async (t) => {
    const service = await startFailures(t);
    const page = await openPage(t, browser(), `${service.url}/env/dev/failures`, { allow: /400/ });
    const group = page.getByRole("row").filter({ hasText: "NonRetriableError: The card was declined" });
    await group.getByText("Charge card").waitFor();
    await group.getByRole("button", { name: "Rerun 3 runs" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rerun 3 runs" }).click();
    await page.waitForURL("**/jobs/*");
    await untilFailed(service, 2 * FAILURES);
    await visit(page, "/env/dev/failures");
    await group.getByText("3 rerun").waitFor();
    await group.getByRole("button", { name: "Rerun 3 runs" }).waitFor();
    await group.getByRole("link", { name: /The card was declined/ }).click();
    await page.getByText("6 runs in total").waitFor();
    const where = page.getByRole("searchbox", { name: "Expression over the payload" });
    await where.fill("data.n >= 1");
    await page.getByText("4 runs in total").waitFor();
    await where.fill("data.n >=");
    await page.getByRole("alert").waitFor();

    await visit(page, "/env/dev/events?where=data.n+%3D%3D+2");
    await page.getByText("1 event in total").waitFor();
    await service.send({ name: "nobody/cares", data: {} });
    await visit(page, "/env/dev/events");
    await page.getByRole("combobox", { name: "Match" }).selectOption("Unmatched");
    await page.getByText("1 event in total").waitFor();
    await page.getByRole("listitem").getByText("nobody/cares").waitFor();
  });

  test("a paused function shows how much waits, and goes on when it is resumed; a key on hold is shown and released", async (t) => {
    const service = await startFailures(t);
    const page = await openPage(t, browser(), "about:blank", { allow: /400/ });
    await page.clock.install();
    await page.goto(`${service.url}/env/dev/functions/shop-charge`);
    const limits = page.getByRole("dialog");
    await page.getByRole("button", { name: "Limits" }).click();
    await limits.getByLabel("Concurrent").fill("3");
    await limits.getByLabel("Starts per period (others wait): number").fill("5");
    await limits.getByLabel("Starts per period (others wait): period").fill("soon");
    await limits.getByRole("button", { name: "Save" }).click();
    await limits.getByText("must be a duration").waitFor();
    await limits.getByLabel("Starts per period (others wait): period").fill("1h");
    await limits.getByRole("button", { name: "Save" }).click();
    await page.getByText("Limited without a deploy: 3 at a time; 5 starts in 1h, others wait.").waitFor();
    await page.getByRole("button", { name: "Limits" }).click();
    for (const label of ["Concurrent", "Starts per period (others wait): number"]) await limits.getByLabel(label).fill("");
    await limits.getByRole("button", { name: "Save" }).click();
    await page.getByText("Limited without a deploy").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("0 runs wait until it is resumed").waitFor();
    await service.send([1, 2].map((n) => ({ name: "shop/payment.due", data: { n } })));
    await untilPolled(page.getByText("2 runs wait until it is resumed"));
    await page.getByRole("link", { name: "Functions", exact: true }).first().click();
    await untilPolled(page.getByText("Paused, 2 runs wait"));
    await page.getByRole("link", { name: "Charge card" }).click();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Resume" }).click();
    await page.getByText("Charge card resumed.").waitFor();
    await untilFailed(service, FAILURES + 2);
    await untilPolled(page.getByRole("button", { name: "Pause" }));
    assert.equal(await page.getByRole("region", { name: "Keys on hold" }).count(), 0, "this function has no order");

    await visit(page, "/env/dev/functions/shop-deliver");
    const holds = page.getByRole("region", { name: "Keys on hold" });
    await holds.getByText("None. When a run fails").waitFor();
    const deliveries = [{ customer: "ada" }, { customer: "ada", address: "Baker Street" }, { customer: "grace", address: "Elm Street" }];
    await service.send(deliveries.map((data) => ({ name: "shop/delivery.due", data })));
    await untilFailed(service, FAILURES + 3);
    const row = holds.getByRole("row").filter({ hasText: '"ada"' });
    await untilPolled(row.getByText("1 run waits"));
    assert.equal(await holds.getByRole("row").count(), 2, "a heading, and no other key");
    await row.getByRole("button", { name: 'Release "ada"' }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Release" }).click();
    await untilPolled(holds.getByText("None. When a run fails"));
    const completed = async () => (await service.rest("GET", "/runs?function=shop-deliver&status=completed")).body.data.length;
    await until("the run that waited", async () => (await completed()) === 2);
  });

  test("two events are compared; an event is copied as a test fixture; an edited event is a new one; a run is rerun from one of its steps", async (t) => {
    const service = await startFailures(t);
    const [first, second] = (await service.send([1, 2].map((n) => ({ name: "shop/order.created", data: { n, same: true } })))).body.ids;
    const page = await openPage(t, browser(), `${service.url}/env/dev/events/${second}`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Compare with another event" }).click();
    const dialog = page.getByRole("dialog", { name: "Compare payloads" });
    const other = dialog.getByRole("combobox", { name: "Other event" });
    await until("the event before it", async () => (await other.inputValue()) === first);
    await dialog.locator(".cm-deletedLine, .cm-deletedChunk").getByText('"n": 1').waitFor();
    await dialog.locator(".cm-changedLine, .cm-insertedLine").getByText('"n": 2').waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Copy as a test fixture" }).click();
    await page.getByText("Copied as a test fixture").waitFor();
    assert.match((await page.evaluate("navigator.clipboard.readText()")) as string, /runFunction\(fn, \{ event \}\)/);

    const [run] = (await service.rest("GET", "/runs?status=failed")).body.data;
    await visit(page, `/env/dev/runs/${run.id}`);
    await page.getByRole("button", { name: "Edit event and rerun" }).click();
    const text = page.getByRole("dialog").getByRole("textbox", { name: "Event" });
    await text.fill((await text.inputValue()).replace("tok_visa", "tok_amex"));
    await page.getByRole("dialog").getByRole("button", { name: "Send" }).click();
    await untilFailed(service, FAILURES + 1);
    const [event] = (await service.rest("GET", "/events?q=tok_amex")).body.data;
    assert.notEqual(event.id, run.event.id);
    await rerunFromStep(page, service);
  });
}

/** After a count and a confirmation. */
async function eraseFiltered(page: Page, service: TestService): Promise<void> {
  await service.send(["jane@example.com", "joe@example.com"].map((mail) => ({ name: "shop/signed.up", data: { mail } })));
  await visit(page, "/env/dev/events");
  await page.getByRole("button", { name: "All of this list" }).click();
  await page.getByRole("menuitem", { name: "Replay all events of this list" }).waitFor();
  assert.equal(await page.getByRole("menuitem", { name: "Erase" }).count(), 0, "without a filter it would be everything");
  await page.keyboard.press("Escape");
  await visit(page, "/env/dev/events?q=jane");
  await page.getByRole("button", { name: "All of this list" }).click();
  await page.getByRole("menuitem", { name: "Erase all events of this list" }).click();
  const dialog = page.getByRole("dialog", { name: "Erase events" });
  const erase = dialog.getByRole("button", { name: "Erase 1 event" });
  await erase.waitFor();
  await dialog.getByRole("textbox").fill("production");
  assert.ok(await erase.isDisabled(), "another environment");
  await dialog.getByRole("textbox").fill("dev");
  await erase.click();
  await page.waitForURL("**/jobs/*");
  await page.locator(".page-head").getByText("Completed").waitFor();
  const { text } = await service.rest("GET", "/events");
  assert.deepEqual([text.includes("jane@"), text.includes("joe@")], [false, true]);

  const [, one] = (await service.send(["ann@example.com", "joe@example.com"].map((mail) => ({ name: "shop/left", data: { mail } })))).body
    .ids;
  await visit(page, `/env/dev/events/${one}`);
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Erase" }).click();
  await dialog.getByRole("textbox").fill("dev");
  await erase.click();
  await page.waitForURL("**/jobs/*");
  await page.locator(".page-head").getByText("Completed").waitFor();
  const left = await service.rest("GET", "/events?name=shop/*");
  assert.deepEqual(
    [left.text.includes("ann@"), left.text.split("joe@").length - 1],
    [true, 1],
    "one event, and no other with the same data",
  );
}

/** What came before the step is kept. */
async function rerunFromStep(page: Page, service: TestService): Promise<void> {
  const [id] = (await service.send({ name: "shop/month.ended", data: {} })).body.ids;
  const run = await until("the run to end", async () => {
    const [found] = (await service.rest("GET", `/events/${id}/runs`)).body.data;
    return found?.status === "completed" && found;
  });
  await visit(page, `/env/dev/runs/${run.id}`);
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.getByRole("button", { name: /Write an invoice × 4/ }).click();
  await timeline
    .getByRole("button", { name: /^Write an invoice/ })
    .nth(2)
    .click();
  await timeline.getByRole("button", { name: "Rerun from this step" }).click();
  await page.getByText("Rerun started from Write an invoice. Results before it were kept.").waitFor();
  await until("the new run", async () => !page.url().endsWith(run.id));
  await page.getByText("Rerun of").waitFor();
  await page.locator(".page-head").getByText("Completed").waitFor();
  const again = (await service.rest("GET", `/runs/${page.url().split("/").at(-1)}`)).body.data;
  assert.equal(again.failedAttempts, 0, "the step that had to be retried was not run again");
}
