/** Alerts: rules are made, changed and removed by those who may, and a raised alert is shown on every page of its environment. */

import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { API_KEY, startTestService } from "../../../server/test/support/service.ts";
import { openPage, visit } from "../support/browser.ts";
import { untilPolled } from "../support/polled.ts";
import { signIn } from "../support/sign-in.ts";
import { until } from "../support/until.ts";

export function alertCases(browser: () => Browser): void {
  test("alert rules are created, changed and deleted; a raised alert is shown on every page of its environment", async (t) => {
    const service = await startTestService(t);
    const page = await openPage(t, browser(), "about:blank", { allow: /40[013]|50[03]/ });
    await page.clock.install();
    await page.goto(`${service.url}/login?next=%2Fenv%2Fproduction%2Falerts`);
    await signIn(page, API_KEY);
    await page.getByText("No alert rules yet").waitFor();

    await page.getByRole("button", { name: "New rule" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Nobody listens");
    await dialog.getByRole("combobox", { name: "Measures" }).selectOption("Unmatched events");
    await dialog.getByText("Events that neither started nor resumed a run.").waitFor();
    assert.equal(await dialog.getByRole("combobox", { name: /^Function/ }).count(), 0, "this kind is not about a function");
    await dialog.getByLabel(/^Threshold in events/).fill("1");
    await dialog.getByRole("checkbox", { name: "Quiet hours" }).check();
    await dialog.getByLabel("Quiet from").fill("00:00");
    await dialog.getByLabel("Quiet until").fill("23:59");
    await dialog.getByRole("combobox", { name: "Time zone of the quiet hours" }).selectOption("UTC");
    await dialog.getByRole("button", { name: "Create" }).click();
    const row = page.getByRole("row").filter({ hasText: "Nobody listens" });
    await row.getByText("00:00 to 23:59 UTC").waitFor();
    await row.getByText("At least 1 unmatched event within 5 min").waitFor();
    await row.getByText("Not raised").waitFor();
    await row.getByText("Never").waitFor();

    await page.getByRole("button", { name: "Edit Nobody listens" }).click();
    await dialog.getByRole("checkbox", { name: "Quiet hours" }).uncheck();
    await dialog.getByRole("button", { name: "Save" }).click();
    await row.getByText("None").waitFor();
    await service.send({ name: "shop/unheard", data: {} });
    await until("the alert", async () => (await service.rest("GET", "/alerts")).body.data.length === 1);

    for (const path of ["runs", "events"]) {
      await visit(page, `/env/production/${path}`);
      await untilPolled(page.getByRole("alert").getByText("An alert is raised: Nobody listens."));
    }
    await page.getByRole("link", { name: "Show alerts" }).click();
    await untilPolled(row.getByText("Raised", { exact: true }));
    await row.getByText("at 1, since").waitFor();
    assert.equal(await row.getByText("Never").count(), 0);

    const viewer = (await service.rest("POST", "/keys", { body: { kind: "api", name: "viewer", role: "viewer" } })).body.data.key;
    const looking = await openPage(t, browser(), `${service.url}/login?next=%2Fenv%2Fproduction%2Falerts`, { allow: /40[13]/ });
    await signIn(looking, viewer);
    await looking.getByRole("row").filter({ hasText: "Nobody listens" }).waitFor();
    // A viewer changes nothing, as the page knows with the response about the session.
    await looking
      .getByRole("button", { name: /New rule|Edit|Delete/ })
      .first()
      .waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Delete Nobody listens" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No alert rules yet").waitFor();
    assert.equal((await service.rest("GET", "/alert-rules")).body.data.length, 0);

    await page.getByRole("button", { name: "New rule" }).click();
    await dialog.getByLabel("Name").fill("Orders stopped");
    await dialog.getByRole("combobox", { name: "Measures" }).selectOption("Silence");
    assert.equal(await dialog.getByLabel(/^Threshold/).count(), 0, "the window decides");
    await dialog.getByRole("combobox", { name: "Watches" }).selectOption("An event");
    await dialog.getByLabel(/^Event/).fill("shop/*");
    await dialog.getByRole("combobox", { name: /^Silent for/ }).selectOption("longer than usual");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("learnt from at least 14 days of activity").waitFor();
    await dialog.getByRole("combobox", { name: /^Silent for/ }).selectOption("2 days");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("No event shop/* for 2 days").waitFor();
    await page.getByRole("button", { name: "Delete Orders stopped" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByText("No alert rules yet").waitFor();

    await page.route("**/v1/alert-rules?*", (route) =>
      route.fulfill({ status: 503, json: { error: "The store cannot be reached.", code: "store_unavailable", status: 503 } }),
    );
    await page.reload();
    // After some retries.
    await untilPolled(page.getByText("The alert rules could not be loaded"));
    await page.unroute("**/v1/alert-rules?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("No alert rules yet").waitFor();
  });
}
