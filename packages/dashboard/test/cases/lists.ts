/** The lists of runs and events: what a row says, filters by time, saved filters, and work on many runs at once. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { startTestService, type TestService } from "../../../server/test/support/service.ts";
import { startShopApp } from "../support/app.ts";
import { openPage, visit } from "../support/browser.ts";
import { dragOverChart } from "../support/chart.ts";
import { until } from "../support/until.ts";

const CUSTOMERS = ["ada", "grace", "edsger"];
/** A page has 50. */
const RUNS_OF_TWO_PAGES = 60;
/** A run that changes loads the list anew, and with it the next page. */
const REQUESTS_MAX = 3;

/** Three failed runs and one that waits. */
async function startFailures(t: TestContext): Promise<TestService> {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  for (const customer of CUSTOMERS) await service.send({ name: "shop/payment.due", data: { customer } });
  await service.send({ name: "shop/cart.left", data: { cart: "c_81" } });
  await until("three failures", async () => (await service.rest("GET", "/runs?status=failed")).body.data.length === CUSTOMERS.length);
  await until("a wait", async () => (await service.rest("GET", "/runs?status=waiting")).body.data.length === 1);
  return service;
}

export function listCases(browser: () => Browser): void {
  test("on a phone, the parts of a cell stand together, at the end of its line", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    await service.rest("POST", "/alert-rules", { body: { name: "Failures", kind: "failure_count", threshold: 1 } });
    const viewport = { width: 390, height: 844 };
    const page = await openPage(t, browser(), `${service.url}/env/dev/audit-log`, { viewport });
    await page.getByText("alert_rule.created").waitFor();
    const [name, kind] = (await page.evaluate(`(() => {
      const cell = document.querySelector("td[data-label=On]");
      const name = document.createRange();
      name.selectNode(cell.firstChild);
      return [name.getBoundingClientRect().right, cell.querySelector("span").getBoundingClientRect().left];
    })()`)) as [number, number];
    assert.ok(kind > name && kind - name < 20, `the name ends at ${name} px, and what it names begins at ${kind} px`);
  });

  test("events show the outcome of their runs; runs are filtered, told apart in the list, chosen, and rerun or cancelled together", async (t) => {
    const service = await startFailures(t);
    await service.send({ name: "nobody/cares", data: {} });
    const page = await openPage(t, browser(), `${service.url}/env/dev/events`);
    await showOutcomes(page);
    await visit(page, "/env/dev/runs?status=failed");
    await filterRuns(page, service);
    await visit(page, "/env/dev/runs");
    await chooseRuns(page, service);
  });

  test("a next page of runs that fails is not requested without end, is shown as an error, and loaded when asked for", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const app = await startShopApp(service.url);
    onEnd(t, () => app.stop());
    await service.rest("POST", "/apps", { body: { url: app.url } });
    await service.send(Array.from({ length: RUNS_OF_TWO_PAGES }, (_, n) => ({ name: "shop/payment.due", data: { n } })));
    const failed = async () => (await service.rest("GET", "/runs?status=failed&limit=100")).body.data.length;
    await until("every run to end", async () => (await failed()) === RUNS_OF_TWO_PAGES);

    const page = await openPage(t, browser(), `${service.url}/env/dev/runs`, { allow: /400/ });
    let requests = 0;
    let isBroken = true;
    await page.route(/\/v1\/runs\?.*cursor=/, (route) => {
      requests++;
      return isBroken ? route.fulfill({ status: 400, json: { error: "Out of order.", code: "request_invalid" } }) : route.fallback();
    });
    await page.getByText("Loading more…").waitFor();
    const error = page.getByRole("alert").filter({ hasText: "More runs could not be loaded" });
    await until("the error", async () => {
      await page.evaluate("{ const list = document.querySelector('.list-scroll'); list.scrollTo(0, list.scrollHeight); }");
      return requests > REQUESTS_MAX || error.isVisible();
    });
    assert.ok(requests <= REQUESTS_MAX, `${requests} requests`);
    await error.getByText("Out of order.").waitFor();
    isBroken = false;
    await error.getByRole("button", { name: "Try again" }).click();
    await page.getByText(`${RUNS_OF_TWO_PAGES} runs in total`).waitFor();
  });
}

/** Internal events appear when asked for. */
async function showOutcomes(page: Page): Promise<void> {
  await page.getByRole("listitem").filter({ hasText: "grace" }).getByText("Runs: 1 failed").waitFor();
  await page.getByRole("listitem").filter({ hasText: "shop/cart.left" }).getByText("Runs: 1 waiting").waitFor();
  await page.getByRole("listitem").filter({ hasText: "nobody/cares" }).getByText("no runs").waitFor();
  await page.getByText("5 events in total").waitFor();
  assert.equal(await page.getByText("inlet/function.failed").count(), 0);
  await page.getByRole("checkbox", { name: "Internal events" }).click();
  await page.waitForURL(/internal=true/);
  await page.getByRole("listitem").filter({ hasText: "inlet/function.failed" }).first().waitFor();
  await page.getByText("8 events in total").waitFor();
}

/** By a typed time range, by the chart, and by saved filters. */
async function filterRuns(page: Page, service: TestService): Promise<void> {
  await page.getByText("3 runs in total").waitFor();
  await page.getByRole("button", { name: "Saved filters" }).click();
  await page.getByRole("textbox", { name: "Name of the filter" }).fill("What failed");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "What failed", exact: true }).waitFor();
  const documentation = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Documentation" });
  assert.equal(await documentation.getAttribute("href"), "/docs");
  assert.equal((await service.rest("GET", "/saved-filters?list=runs")).body.data[0].name, "What failed");
  await page.keyboard.press("Escape");

  await page.getByRole("combobox", { name: "Time range" }).selectOption("From … to …");
  const from = page.getByLabel(/^From/);
  await from.fill("2020-01-01T00:00:00");
  await from.press("Enter");
  await page.waitForURL(/from=15778\d+/);
  await page.getByText("3 runs in total").waitFor();
  await page.getByLabel(/^To/).fill("2020-02-01T00:00:00");
  await page.getByLabel(/^To/).press("Enter");
  await page.getByText("No run matches these filters").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("4 runs in total").waitFor();

  await dragOverChart(page, 0.25, 0.5);
  await page.waitForURL(/from=\d+&to=\d+/);
  await page.getByText("No run matches these filters").waitFor();

  await page.reload();
  await page.getByRole("button", { name: "Saved filters" }).click();
  await page.getByRole("button", { name: "What failed", exact: true }).click();
  await page.waitForURL(/\/runs\?status=failed$/);
  await page.getByText("3 runs in total").waitFor();
}

async function chooseRuns(page: Page, service: TestService): Promise<void> {
  for (const title of ["Status", "Function and Run ID", "Event", "Error", "Attempts", "Duration", "Created"])
    await page.locator(".list-columns").getByText(title, { exact: true }).waitFor();
  await page.getByText("4 runs in total").waitFor();
  const row = page.getByRole("listitem").filter({ hasText: "grace" });
  const { id, failedAttempts } = (await service.rest("GET", "/runs?status=failed")).body.data[1];
  // The step failed once, and the function with it: nothing was attempted twice.
  assert.equal((await service.rest("GET", `/runs/${id}`)).body.data.attempts.length, 2);
  assert.equal(failedAttempts, 1);
  await row.getByText("NonRetriableError: The card was declined").waitFor();
  await row.getByText(`${failedAttempts} failed`).waitFor();
  await row.getByText(/^\d+ ms$|^\d+\.\d+ s$/).waitFor();
  await row.getByText(id).waitFor();

  // By keyboard: j moves to a row, x marks it.
  await page.keyboard.press("j");
  await page.getByRole("listitem").first().locator("a:focus").waitFor();
  await page.keyboard.press("x");
  const bar = page.getByRole("region", { name: "Selected runs" });
  await bar.getByText("1 run selected").waitFor();
  await page.keyboard.press("j");
  await page.getByRole("listitem").nth(1).locator("a:focus").waitFor();
  await page.keyboard.press("x");
  await bar.getByText("2 runs selected").waitFor();
  await bar.getByRole("button", { name: "Cancel" }).click();
  const cancelling = page.getByRole("dialog", { name: "Cancel runs" });
  await cancelling.getByText("c_81").waitFor();
  // It ends while it is asked for: the job stays about it alone.
  const [waiting] = (await service.rest("GET", "/runs?function=shop-remind")).body.data;
  assert.equal((await service.rest("POST", `/runs/${waiting.id}/cancel`)).status, 200);
  // Behind a dialog, nothing has a role.
  await page.locator(".list-scroll").getByText("Cancelled", { exact: true }).first().waitFor();
  await cancelling.getByText(`Filter: run ${waiting.id}`).waitFor();
  await cancelling.getByRole("button", { name: "Cancel 1 run" }).click();
  await page.waitForURL("**/jobs/*");
  // Until the page of the job is shown, that of the runs is still there, with what was selected.
  await page.getByRole("region", { name: "Progress" }).waitFor();
  await visit(page, "/env/dev/runs");
  await page
    .getByRole("listitem")
    .filter({ hasText: /Cancelled\s*Remind/ })
    .waitFor();

  // In small letters: ids have large ones.
  for (const customer of [/ada/, /grace/]) await page.getByRole("listitem").filter({ hasText: customer }).getByRole("checkbox").check();
  await bar.getByRole("button", { name: "Rerun" }).click();
  await page.getByRole("dialog", { name: "Rerun runs" }).getByText("Filter: 2 selected runs").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Rerun 2 runs" }).click();
  await page.waitForURL("**/jobs/*");
  await page.getByRole("region", { name: "Progress" }).getByText("2 of 2").waitFor();
  assert.equal((await service.rest("GET", "/jobs")).body.data.length, 2, "each is one job");
  await until("five failures", async () => (await service.rest("GET", "/runs?status=failed")).body.data.length === 5);
}
