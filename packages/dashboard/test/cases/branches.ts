/** Branch environments: created, selected by name, with a shared page for events without a branch. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test as testOnce } from "node:test";
import type { Browser } from "playwright-core";
import { archiveFolder, folderUrl } from "../../../server/test/support/archive-scene.ts";
import { test } from "../../../server/test/support/both-stores.ts";
import { cuttingProxy } from "../../../server/test/support/cutting-proxy.ts";
import { freshDatabase, migratedDatabase, whyNoPostgres } from "../../../server/test/support/postgres.ts";
import { call, startTestService } from "../../../server/test/support/service.ts";
import { archivedEvents } from "../support/archived-events.ts";
import { openPage, visit } from "../support/browser.ts";
import { until } from "../support/until.ts";

const skip = whyNoPostgres() ?? false;
/** A move waits for every transaction under way. */
const PATIENT_MS = 300_000;

export function branchCases(browser: () => Browser): void {
  test("a branch gets its own events; the shared page shows events without a branch", async (t, store) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), `${service.url}/env/dev/environments`, { allow: /status of 400/ });
    await page.getByRole("button", { name: "Branch environment" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("feature/cart");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("cell", { name: "feature/cart", exact: true }).waitFor();

    const transform = "transform = (evt) => ({ name: evt.type, data: evt })";
    const made = await service.rest("POST", "/webhooks", { body: { name: "Shared hook", transform, environment: "branch" } });
    const post = (query: string, type: string) =>
      call(made.body.data.url + query, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ type }) });
    await post("?x-service-env=feature/cart", "to/cart");
    await post("", "to/nobody");
    await post("?x-service-env=feature/gone", "to/gone");

    await page.getByRole("link", { name: "feature/cart" }).click();
    await page.getByRole("button", { name: "Environment: feature/cart" }).waitFor();
    await page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await page.getByRole("link", { name: "View shared webhooks" }).click();
    const lost = page.getByRole("region", { name: "Events without a branch" });
    await lost.getByText("to/nobody").waitFor();
    await lost.getByText("to/gone").waitFor();
    assert.equal(await lost.getByText("to/cart").count(), 0);

    await page.getByRole("button", { name: "Environment: All branches" }).click();
    await page.getByRole("menuitemradio", { name: "feature/cart" }).click();
    await page.waitForURL("**/env/feature%2Fcart/webhooks");
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.waitForURL("**/env/feature%2Fcart/events");
    await page.getByRole("listitem").filter({ hasText: "to/cart" }).waitFor();
    await page.getByText("1 event in total").waitFor();

    await visit(page, `/env/branch/webhooks/${made.body.data.id}?tab=drill`);
    await page.getByText("No drill yet").waitFor();
    await page.getByRole("button", { name: "Start drill" }).click();
    // The transform gives no id, and the webhook verifies nothing: copies and forged requests become events.
    const report = page.getByRole("region", { name: "Report" });
    await report.getByText(/requests of 18 had another outcome than expected/).waitFor();
    await report
      .getByRole("row", { name: /Different duplicates/ })
      .first()
      .waitFor();
    await report
      .getByRole("row", { name: /As expected malformed .* 400, 0 new events/ })
      .first()
      .waitFor();

    await page.getByRole("link", { name: "Environments" }).click();
    const act = async (action: string) => {
      await page.getByRole("button", { name: "More actions for feature/cart" }).click();
      await page.getByRole("menuitem", { name: action, exact: true }).click();
    };
    await act("Archive");
    const dialog = page.getByRole("dialog", { name: "Archive feature/cart?" });
    // The focus is on the button that changes nothing.
    await dialog.getByRole("button", { name: "Cancel" }).and(page.locator(":focus")).waitFor();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await act("Archive");
    await dialog.getByRole("button", { name: "Archive", exact: true }).click();
    await page.getByRole("cell", { name: "Archived" }).waitFor();
    await act("Unarchive");
    await page.getByRole("cell", { name: "Archived" }).waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Settings of feature/cart" }).click();
    await page.getByRole("textbox", { name: "Keep events for" }).waitFor();
    await page.keyboard.type("7d");
    await page.keyboard.press("Enter");
    await page
      .getByRole("row", { name: /feature\/cart/ })
      .getByText("7d")
      .waitFor();
    await page.getByRole("link", { name: "Audit log" }).click();
    await page.getByRole("searchbox", { name: /^Action/ }).pressSequentially("environment.upd*");
    await page.waitForURL("**/audit-log?action=environment.upd*");
    await page.getByRole("row", { name: /environment\.updated/ }).waitFor();
    await until("the other actions to go", async () => (await page.getByText("webhook.created").count()) === 0);
    await page.getByRole("button", { name: "Export" }).click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "As JSON lines" }).click()]);
    const [line = "", rest] = readFileSync(await download.path(), "utf8").split("\n");
    assert.deepEqual([JSON.parse(line).details.retention.events, rest], ["7d", ""]);

    await page.getByRole("link", { name: "Environments" }).click();
    await page.getByRole("button", { name: "Usage of feature/cart" }).click();
    const usage = page.getByRole("dialog", { name: "Usage of feature/cart" });
    await usage.getByRole("textbox", { name: "Quota: Events per day (UTC)" }).fill("1000");
    const aligned = await page.evaluate("getComputedStyle(document.querySelector('dialog[open]')).textAlign");
    assert.equal(aligned, "start", "not as the cell that its button is in");
    await usage.getByRole("button", { name: "Save" }).click();
    await usage.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Usage of feature/cart" }).click();
    await usage.getByRole("progressbar", { name: "Events per day (UTC) used" }).waitFor();
    await usage.getByText(/of 1,000 used/).waitFor();
    await page.keyboard.press("Escape");

    const databases = page.getByRole("region", { name: "Databases" });
    await databases.getByRole("row", { name: /^directory Reachable .* dev, feature\/cart$/ }).waitFor();
    const add = databases.getByRole("button", { name: "Add database" });
    if (store === "postgres") return add.waitFor();
    await databases.getByText("needs PostgreSQL as the store").waitFor();
    assert.equal(await add.count(), 0, "nothing is offered that would be refused");
  });

  testOnce(
    "archived events are listed; a database is added, an environment is placed on it, and the page says when it is away",
    {
      skip,
    },
    async (t) => {
      const archive = await archiveFolder(t);
      const flags = ["--archive", folderUrl(archive)];
      const service = await startTestService(t, { mode: "dev", databaseUrl: await migratedDatabase(t), flags });
      await archivedEvents(t, browser(), service.url, archive);
      const proxy = await cuttingProxy(t, await freshDatabase(t));
      const page = await openPage(t, browser(), `${service.url}/env/dev/environments`, { allow: /status of (400|50[23])/ });
      const databases = page.getByRole("region", { name: "Databases" });
      await databases.getByText("All environments are on one database").waitFor();
      await databases.getByRole("button", { name: "Add database" }).click();
      const adding = page.getByRole("dialog", { name: "Add a database" });
      await adding.getByRole("textbox", { name: "Name" }).fill("eu");
      await adding.getByLabel("URL").fill("mysql://u:p@127.0.0.1:1/x");
      await adding.getByRole("button", { name: "Add", exact: true }).click();
      await adding.getByText("The URL must begin with postgres://").waitFor();
      await adding.getByLabel("URL").fill("postgres://u:hunter2@127.0.0.1:1/x");
      await adding.getByRole("button", { name: "Add", exact: true }).click();
      await adding.getByText("The database cannot be used").waitFor();
      await adding.getByLabel("URL").fill(proxy.url);
      await adding.getByRole("button", { name: "Add", exact: true }).click();
      await databases.getByRole("row", { name: /^eu Reachable .* none yet$/ }).waitFor();

      await page.getByRole("button", { name: "Custom environment" }).click();
      const creating = page.getByRole("dialog", { name: "New custom environment" });
      await creating.getByRole("textbox", { name: "Name" }).fill("payments");
      await creating.getByRole("combobox", { name: "Database" }).selectOption("eu");
      await creating.getByRole("button", { name: "Create" }).click();
      await page.getByRole("button", { name: "I have copied them" }).click();
      await page.getByRole("row", { name: /^payments custom eu / }).waitFor();
      await databases.getByRole("row", { name: /^eu Reachable .* payments$/ }).waitFor();
      await page.getByRole("button", { name: "More actions for payments" }).click();
      await page.getByRole("menuitem", { name: "Move to another database" }).click();
      const moving = page.getByRole("dialog", { name: "Move payments?" });
      await moving.getByRole("combobox", { name: "From eu to" }).selectOption("directory");
      await moving.getByRole("button", { name: "Move", exact: true }).click();
      await page.waitForURL(/\/env\/payments\/jobs\/[0-9A-Z]+/);
      await page.getByText("Completed", { exact: true }).first().waitFor({ timeout: PATIENT_MS });

      const made = await service.rest("POST", "/environments", { body: { name: "billing", database: "eu" } });
      assert.equal(made.status, 201, made.text);
      await visit(page, "/env/dev/environments");
      await page.getByRole("row", { name: /^payments custom directory / }).waitFor({ timeout: PATIENT_MS });
      proxy.close();
      await databases.getByText("eu cannot be reached. Requests for billing are refused until it can.").waitFor();
      await databases.getByRole("row", { name: /^eu Unreachable unknown billing$/ }).waitFor();
    },
  );
}
