/**
 * Every dialog with a field opens with the focus in it: what is typed arrives there, and Enter submits it. It is about the object for which
 * it was opened.
 */

import assert from "node:assert/strict";
import { before } from "node:test";
import type { Browser, Page } from "playwright-core";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { startShopApp } from "./support/app.ts";
import { openPage, visit } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

/** What was sent is shown a moment before its dialog closes. */
const noDialog = (page: Page) => page.getByRole("dialog").waitFor({ state: "detached" });

/** Opens the dialog of a button without the mouse. */
async function openDialog(page: Page, button: string): Promise<void> {
  await noDialog(page);
  await page.getByRole("button", { name: button, exact: true }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
}

test("dialogs take what is typed, and Enter submits it", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const page = await openPage(t, browser, `${service.url}/env/dev/events`, { allow: /502/ });

  await openDialog(page, "Send event");
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"name":"typed/event","data":{}}');
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("listitem").filter({ hasText: "typed/event" }).waitFor();

  await noDialog(page);
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("keys");
  await page.getByRole("option", { name: /^Keys\s*Page/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/env/dev/keys");

  await openDialog(page, "New event key");
  await page.keyboard.type("Typed key");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Typed key created" }).waitFor();

  await visit(page, "/env/dev/environments");
  await openDialog(page, "Branch environment");
  await page.keyboard.type("typed/branch");
  await page.keyboard.press("Enter");
  await page.getByRole("cell", { name: "typed/branch" }).first().waitFor();

  await visit(page, "/env/dev/alerts");
  await openDialog(page, "New rule");
  await page.keyboard.type("Typed rule");
  await page.keyboard.press("Enter");
  await page.getByRole("cell", { name: "Typed rule" }).first().waitFor();
  await openDialog(page, "Delete Typed rule");
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Cancel", "Enter deletes nothing by accident");
  await page.keyboard.press("Enter");
  await noDialog(page);
  assert.equal((await service.rest("GET", "/alert-rules")).body.data.length, 1);

  await visit(page, "/env/dev/apps");
  await openDialog(page, "Sync an app");
  await page.keyboard.type("http://127.0.0.1:9/typed");
  assert.equal(await page.getByLabel("URL of the app's endpoint").inputValue(), "http://127.0.0.1:9/typed");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByRole("alert").waitFor();
});

test("a dialog closes when another object or environment is opened behind it, and no shortcut does that", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const { ids } = (await service.send(["a/first", "a/second"].map((name) => ({ name, data: {} })))).body;
  const page = await openPage(t, browser, `${service.url}/env/dev/functions/shop-charge`);
  // Behind a dialog, nothing has a role.
  const shown = (title: string) => page.locator("h1, h2").filter({ hasText: title }).first().waitFor();
  await shown("Charge card");
  await visit(page, "/env/dev/functions/shop-fulfil");
  await shown("Fulfil order");
  await openDialog(page, "Limits");
  await page.keyboard.type("1");
  await page.keyboard.press("Control+k");
  assert.equal(await page.getByRole("dialog", { name: "Command palette" }).count(), 0);
  assert.equal(await page.getByLabel("Concurrent").inputValue(), "1");
  await page.goBack();
  await shown("Charge card");
  assert.equal(await page.getByRole("dialog").count(), 0, "the limits of another function");

  await visit(page, "/env/staging/keys");
  await page.getByRole("button", { name: "Environment: staging" }).waitFor();
  await visit(page, "/env/dev/keys");
  await page.getByRole("button", { name: "Environment: dev" }).waitFor();
  await openDialog(page, "New event key");
  await page.goBack();
  await page.locator(".env-switch").filter({ hasText: "staging" }).waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0, "a key for another environment");

  await visit(page, `/env/dev/events/${ids[0]}`);
  await shown("a/first");
  await visit(page, `/env/dev/events/${ids[1]}`);
  await shown("a/second");
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Erase" }).click();
  await page.getByRole("dialog").waitFor();
  await page.goBack();
  await shown("a/first");
  assert.equal(await page.getByRole("dialog").count(), 0, "the erasure of another event");
});
