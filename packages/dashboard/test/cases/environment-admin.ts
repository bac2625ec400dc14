/** An environment's admin finds in the dashboard everything to run their part, and nothing of the environments of others. */

import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { awayFromMidnight } from "../../../server/test/support/away-from-midnight.ts";
import { test } from "../../../server/test/support/both-stores.ts";
import { startTestService } from "../../../server/test/support/service.ts";
import { openPage, visit } from "../support/browser.ts";
import { signIn } from "../support/sign-in.ts";
import { until } from "../support/until.ts";

/** In the names of everything that the admin must not see. */
const HIDDEN = /hidden-team/i;

/** Of a page that is complete. */
async function assertNothingHidden(page: Page): Promise<void> {
  assert.doesNotMatch(await page.locator("body").innerText(), HIDDEN, page.url());
}

export function environmentAdminCases(browser: () => Browser): void {
  test("an environment's admin runs their environment in the dashboard, and sees no other", async (t) => {
    await awayFromMidnight();
    const service = await startTestService(t);
    const made = async (name: string) => (await service.rest("POST", "/environments", { body: { name } })).body.data.keys;
    const eventKey = (keys: { kind: string; key: string }[]) => ({ key: keys.find(({ kind }) => kind === "event")?.key ?? "" });
    const [mine, others] = [eventKey(await made("payments")), eventKey(await made("hidden-team"))];
    await service.send({ name: "payments/received", data: {} }, mine);
    const [other] = (await service.send({ name: "hidden-team/event", data: { text: "hidden-team" } }, others)).body.ids;
    const transform = "transform = (evt) => ({ name: 'hidden-team/hook', data: evt })";
    await service.rest("POST", "/webhooks", { body: { name: "Hook of hidden-team", environment: "hidden-team", transform } });
    await service.rest("PUT", "/environments/payments", { body: { quotas: { eventsPerDay: 1_000 } } });
    const body = { kind: "api", name: "Head of payments", role: "admin", environments: ["payments"] };
    const { key } = (await service.rest("POST", "/keys", { body })).body.data;
    await service.rest("POST", "/keys", { body: { ...body, name: "Head of hidden-team", environments: ["hidden-team"] } });

    const page = await openPage(t, browser(), `${service.url}/login`, { allow: /40[134]|ERR_CONNECTION_REFUSED/ });
    await signIn(page, key);
    await page.waitForURL("**/env/payments");
    await page.getByRole("heading", { name: "payments" }).waitFor();
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    await assertNothingHidden(page);
    const open = async (label: string, heading = label) => {
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: label, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    };

    await page.getByRole("button", { name: "Environment: payments" }).click();
    await page.getByRole("menuitemradio").first().waitFor();
    assert.deepEqual(await page.getByRole("menuitemradio").allInnerTexts(), ["payments"]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: /^payments\s*Environment/ }).waitFor();
    await page.getByRole("option", { name: /^payments\/received\s*Event type/ }).waitFor();
    await page.keyboard.type("hidden");
    await until("the search alone", async () => (await page.getByRole("option").allInnerTexts()).join().startsWith("Find “hidden”"));
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    for (const text of [other, "hidden-team"]) {
      await page.keyboard.press("/");
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
      await page.waitForURL(`**/env/payments/events?q=${text}`);
      await page.getByText("No event matches these filters").waitFor();
    }

    await open("Keys");
    await page.getByRole("row", { name: /^Head of payments .* admin payments/ }).waitFor();
    await page
      .getByRole("region", { name: "Signing keys" })
      .getByRole("row", { name: /payments/ })
      .waitFor();
    await assertNothingHidden(page);
    await page.getByRole("button", { name: "New API key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Deploys");
    assert.equal(await dialog.getByRole("textbox", { name: "Environments" }).inputValue(), "payments");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    await page.getByRole("row", { name: /^Deploys .* payments/ }).waitFor();

    await open("Webhooks");
    await page.getByText("No webhooks yet").waitFor();
    await assertNothingHidden(page);
    await page.getByRole("link", { name: "New webhook" }).first().click();
    await page.getByRole("textbox", { name: "Name" }).fill("Bank");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("heading", { level: 1, name: "Bank" }).waitFor();

    await open("Alerts");
    await page.getByRole("button", { name: "New rule" }).click();
    await dialog.getByLabel(/^Name/).fill("Payments fail");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByRole("row", { name: /^Payments fail/ }).waitFor();

    await open("Environments");
    await page.getByRole("button", { name: "Usage of payments" }).click();
    await dialog.getByRole("progressbar", { name: "Events per day (UTC) used" }).waitFor();
    await dialog.getByText("1 of 1,000 used").waitFor();
    assert.equal(await dialog.getByRole("textbox").count(), 0, "quotas are set by whoever runs the installation");
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("button", { name: /environment$|^Settings of|Add database/ }).count(), 0);
    await assertNothingHidden(page);

    await open("Audit log");
    await page.getByText("in your environments").waitFor();
    for (const action of ["webhook.created", "key.created"]) await page.getByText(action).first().waitFor();
    await assertNothingHidden(page);
    await open("Settings");
    await page.getByText("Head of payments").first().waitFor();
    await assertNothingHidden(page);
    await visit(page, "/env/hidden-team/events");
    await page.getByRole("heading", { name: 'There is no environment "hidden-team"' }).waitFor();
  });
}
