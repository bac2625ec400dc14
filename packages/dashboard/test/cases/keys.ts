/** Keys: created, shown once, changed, revoked. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { startTestService } from "../../../server/test/support/service.ts";
import { openPage, visit } from "../support/browser.ts";
import { delayNext } from "../support/delay-next.ts";

/** What the page downloads. */
async function exportOf(page: Page, format: string): Promise<string> {
  await page.getByRole("button", { name: "Export" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: format }).click()]);
  return readFileSync(await download.path(), "utf8");
}

export function keyCases(browser: () => Browser): void {
  test("an event key is created with a list, shown once, used and revoked", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), `${service.url}/env/dev/apps`, { allow: /400/ });
    const firstList = await delayNext(page, "**/v1/keys?*");
    await visit(page, "/env/dev/keys");
    await page.getByRole("button", { name: "New event key" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Name" }).fill("Checkout");
    await dialog.getByRole("combobox", { name: "Event names" }).selectOption("allow");
    await dialog.getByRole("textbox", { name: "Event names, one per line" }).fill("shop/*");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("It is shown only once").waitFor();
    const key = await dialog.locator("pre").innerText();
    await dialog.getByRole("button", { name: "I have copied it" }).click();
    assert.equal((await service.send({ name: "shop/a", data: {} }, { key })).status, 200);
    assert.equal((await service.send({ name: "other/a", data: {} }, { key })).status, 403);
    await page.getByRole("cell", { name: "only 1 name" }).waitFor();
    await firstList();
    assert.equal(await page.getByRole("cell", { name: "only 1 name" }).count(), 1, "a list from before does not hide the new key");
    assert.equal(await page.getByText(key).count(), 0, "the key is no longer on the page");

    const exported = await exportOf(page, "As JSON lines");
    assert.match(exported, /"kind":"event","name":"Checkout","prefix":"[^"]+"/);
    assert.match(await exportOf(page, "As CSV"), /^id,kind,name,prefix,.*createdAt/);
    assert.ok(!exported.includes(key), "a list of keys holds no key");

    await page.getByRole("button", { name: "Revoke Checkout" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Checkout revoked").waitFor();
    await page.getByRole("cell", { name: "Checkout" }).waitFor({ state: "detached" });

    const listed = await delayNext(page, "**/v1/keys?*");
    await page.getByRole("button", { name: "New event key" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Second");
    await dialog.getByRole("button", { name: "Create" }).click();
    // It is shown before the list is there.
    await dialog.getByRole("heading", { name: "Second created" }).waitFor();
    await listed();
    await dialog.getByRole("button", { name: "I have copied it" }).click();

    await visit(page, "/env/dev/environments");
    await page.getByRole("row", { name: /^dev / }).waitFor();
    const environmentsListed = await delayNext(page, "**/v1/environments?*");
    await page.getByRole("button", { name: "Custom environment" }).click();
    await dialog.getByRole("textbox", { name: "Name" }).fill("staging");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByRole("heading", { name: "Keys of staging" }).waitFor();
    await environmentsListed();
    await dialog.getByRole("button", { name: "I have copied them" }).click();
    await page.getByRole("row", { name: /^staging / }).waitFor();

    const made = await service.rest("POST", "/keys", { body: { kind: "api", name: "Deploys", role: "admin" } });
    await visit(page, "/env/dev/apps");
    await visit(page, "/env/dev/keys");
    await page.getByRole("button", { name: "Change Deploys" }).click();
    await dialog.getByRole("textbox", { name: "Name", exact: true }).fill("Reports");
    await dialog.getByRole("textbox", { name: "Environments" }).fill("dev, staging-*");
    await dialog.getByRole("combobox", { name: "Role" }).selectOption("viewer");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Reports changed").waitFor();
    await page
      .getByRole("row")
      .filter({ hasText: "Reports" })
      .filter({ hasText: "viewer" })
      .filter({ hasText: "dev, staging-*" })
      .waitFor();
    const { name, role, environments } = (await service.rest("GET", `/keys/${made.body.data.id}`)).body.data;
    assert.deepEqual({ name, role, environments }, { name: "Reports", role: "viewer", environments: ["dev", "staging-*"] });
    await page.getByRole("button", { name: "Change Reports" }).click();
    await dialog.getByRole("textbox", { name: "Environments" }).fill("no such/*name*");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").waitFor();
  });
}
