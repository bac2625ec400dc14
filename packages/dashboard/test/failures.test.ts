/** Failures: runs that were rerun leave their group, and groups are resolved, ignored and found. */

import assert from "node:assert/strict";
import { before } from "node:test";
import type { Browser } from "playwright-core";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { startShopApp } from "./support/app.ts";
import { openPage, visit } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

test("a rerun run leaves its failure, and says what it was rerun as; failures are resolved, ignored and found", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  const failed = async (count: number) =>
    until(`${count} failures`, async () => {
      const { body } = await service.rest("GET", "/runs?status=failed");
      return body.data.length === count && body.data;
    });
  await service.send([1, 2, 3].map((n) => ({ name: "shop/payment.due", data: { n, card: "tok_visa" } })));
  await failed(3);

  const page = await openPage(t, browser, `${service.url}/env/dev/failures`);
  const group = page.getByRole("row").filter({ hasText: "The card was declined" });
  await group.getByRole("img", { name: "3 failed runs over the time range" }).waitFor();
  await group.getByRole("button", { name: "Rerun 3 runs" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Rerun 3 runs" }).click();
  await page.waitForURL("**/jobs/*");
  await page.getByText("Of 3 runs that this job started: 3 failed again, none is still running.").waitFor();
  await page.getByRole("link", { name: "3 failed again" }).click();
  await page.getByText("3 runs in total").waitFor();

  const first = (await failed(6)).at(-1);
  await visit(page, `/env/dev/runs/${first.id}`);
  await page.getByRole("heading", { name: "The run failed, and was rerun" }).or(page.getByText("The run failed, and was rerun")).waitFor();
  await page.getByText("Rerun as").waitFor();

  await visit(page, "/env/dev/failures");
  await group.getByText("3 rerun").waitFor();
  await group.getByRole("button", { name: "Rerun 3 runs" }).waitFor();
  await group.getByRole("button", { name: "Resolve" }).click();
  await page.getByText("No open failures in this time range").waitFor();
  await page.getByRole("button", { name: "Resolved", exact: true }).click();
  await page.waitForURL(/state=resolved/);
  await group.getByText("Resolved by dev server").waitFor();

  await service.send({ name: "shop/payment.due", data: { n: 4, card: "tok_visa" } });
  await failed(7);
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await group.getByRole("button", { name: "Ignore" }).click();
  await page.getByText("No open failures in this time range").waitFor();
  await page.getByRole("button", { name: "Ignored", exact: true }).click();
  await group.getByRole("button", { name: "Reopen" }).click();
  await page.getByText("No ignored failures in this time range").waitFor();
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await group.waitFor();
  await page.getByRole("searchbox", { name: "Text in the failure" }).fill("elsewhere");
  await page.getByText("No open failures in this time range").waitFor();
  await page.getByRole("searchbox", { name: "Text in the failure" }).fill("DECLINED");
  await page.getByRole("combobox", { name: "Function" }).selectOption("Charge card");
  await group.waitFor();
});

test("failures of one environment are not shown under the name of another", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  await service.send({ name: "shop/payment.due", data: { card: "tok_visa" } });
  await until("a failure", async () => (await service.rest("GET", "/runs?status=failed")).body.data.length === 1);

  const page = await openPage(t, browser, `${service.url}/env/dev/failures`);
  const arrival = Promise.withResolvers<void>();
  await page.route("**/v1/failures?*", async (route) => {
    if (route.request().headers()["x-service-env"] === "staging") await arrival.promise;
    await route.fallback();
  });
  const group = page.getByRole("row").filter({ hasText: "The card was declined" });
  await group.waitFor();
  await page.getByRole("button", { name: "Environment: dev" }).click();
  await page.getByRole("menuitemradio", { name: "staging" }).click();
  await page.getByRole("button", { name: "Environment: staging" }).waitFor();
  assert.equal(await group.count(), 0, "the failures of dev have left the page before those of staging arrive");
  arrival.resolve();
  await page.getByText("No open failures in this time range").waitFor();
});
