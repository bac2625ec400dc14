/** Webhooks: creating one, editing its transform with the tester, and handling requests. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { Browser, Page } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { pagesOf, sourceOf, startProvider } from "../../../server/test/support/provider.ts";
import { call, startTestService } from "../../../server/test/support/service.ts";
import { openPage, visit } from "../support/browser.ts";
import { signIn } from "../support/sign-in.ts";
import { until } from "../support/until.ts";

/** Chromium adds style attributes to edited content. The content policy blocks them, and the editor does not need them. */
const EDITING = /Applying inline style violates/;

const RIGHT = `function transform(evt, headers, queryParams) {
  console.log("seen", evt.kind);
  return { name: "acme/" + evt.kind, data: { big: evt.n, via: headers["X-Via"], q: queryParams.q } };
}`;

async function write(page: Page, transform: string): Promise<void> {
  const editor = page.getByRole("textbox", { name: "Transform, JavaScript" });
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  // Pasted, so that the editor does not close brackets.
  await page.keyboard.insertText(transform);
}

export function webhookCases(browser: () => Browser): void {
  test("what a provider lists is checked with one button, and a record says why it is there", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const provider = await startProvider(t, pagesOf([{ id: "one" }, { id: "two" }], 1));
    const transform = "(evt) => ({ name: 'shop/sale', id: evt.id, data: evt })";
    const body = { name: "Listed", transform, reconcile: { source: sourceOf(provider) } };
    const { id, url } = (await service.rest("POST", "/webhooks", { body })).body.data;
    await call(url, { method: "POST", headers: { "content-type": "application/json" }, body: '{"id":"one"}' });
    const page = await openPage(t, browser(), `${service.url}/env/dev/webhooks/${id}?tab=reconcile`, { allow: /400/ });
    await page.getByText("No pass yet").waitFor();
    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByRole("status").getByText("Dry run: 2 listed, 1 seen, 1 to recover, 0 would fail.").waitFor();
    await page.getByRole("button", { name: "Check the last 72 hours" }).click();
    const row = page.getByRole("row").filter({ hasText: "complete" });
    await row.waitFor();
    assert.deepEqual(await row.locator("td.num").allInnerTexts(), ["2", "1", "1", "0"]);
    await page.getByRole("link", { name: "Requests" }).click();
    await page.getByRole("button", { name: "reconciled" }).click();
    await page.getByText("This request was never received.").waitFor();
    await page.getByRole("link", { name: "View event" }).click();
    await page.getByText("Found in what the provider lists").waitFor();

    await visit(page, "/env/dev/jobs");
    await page.getByRole("link", { name: "Check what the provider lists" }).waitFor();
    const everyJob = page.waitForRequest((request) => /\/v1\/jobs\?/.test(request.url()) && !request.url().includes("scheduled"));
    await page.getByRole("checkbox", { name: "Show scheduled reconciliations" }).check();
    await everyJob;

    await visit(page, `/env/dev/webhooks/${id}?tab=reconcile`);
    await page.getByRole("link", { name: "Show the job" }).waitFor();
    const form = page.getByRole("form", { name: "Reconciliation" });
    await form.getByRole("combobox", { name: "Compare with the list of" }).selectOption("shopify");
    await form.getByRole("textbox", { name: /^shop / }).fill("acme.myshopify.com");
    await form.getByRole("textbox", { name: "resources, one per line" }).fill("orders\nproducts");
    await form.getByRole("textbox", { name: "Keys of the provider's API" }).fill("shpat_secret_1234");
    await form.getByRole("textbox", { name: "Every" }).fill("1s");
    await form.getByRole("button", { name: "Update reconciliation" }).click();
    await page.getByText("reconcile.every must be from 10s to 30d").waitFor();
    await form.getByRole("textbox", { name: "Every" }).fill("30m");
    await form.getByRole("button", { name: "Update reconciliation" }).click();
    await page.getByText("Saved. The next pass comes in 30m.").waitFor();
    const saved = (await service.rest("GET", `/webhooks/${id}`)).body.data.reconcile;
    assert.deepEqual(saved, {
      preset: "shopify",
      shop: "acme.myshopify.com",
      resources: ["orders", "products"],
      every: "30m",
      lookBack: "72h",
      secrets: [{ last4: "1234" }],
    });
    const keys = form.getByRole("textbox", { name: "Keys of the provider's API" });
    await until("the field to be empty", async () => (await keys.inputValue()) === "");
    await until("the end of the new key", async () => /Current: ••••1234/.test(String(await keys.getAttribute("placeholder"))));
    await form.getByRole("combobox", { name: "Compare with the list of" }).selectOption("");
    await form.getByRole("button", { name: "Update reconciliation" }).click();
    await page.getByText("Reconciliation is off.").waitFor();
    assert.equal((await service.rest("GET", `/webhooks/${id}`)).body.data.reconcile, null);
  });

  test("from a starter transform to an event: a failing transform, a working one, a real request", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), `${service.url}/env/dev/webhooks`, { allow: EDITING });
    await page.getByRole("link", { name: "New webhook" }).first().click();
    await page.getByText("Stripe", { exact: true }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("Acme");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByRole("heading", { name: "Acme" }).waitFor();
    await page.getByRole("region", { name: "Result" }).getByText("stripe/invoice.paid").waitFor();

    await page.getByRole("textbox", { name: "Body of the test request" }).fill('{"kind":"ping","n":1}');
    await write(page, "function transform(evt) {\n  return evt.nothing.here;\n}");
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("transform_failed").waitFor();
    await result.getByRole("alert").getByText("line 2").waitFor();
    await page.locator(".cm-lint-marker-error").waitFor();

    await write(page, RIGHT);
    await page.getByRole("button", { name: "Headers" }).click();
    await page.getByRole("textbox", { name: "Headers of the test request" }).fill("x-via: test");
    await page.getByRole("button", { name: "Query" }).click();
    await page.getByRole("textbox", { name: "Query string" }).fill("q=1&q=2");
    await result.getByText('"acme/ping"').waitFor();
    await result.getByText('"test"').waitFor();
    await result.getByText("seen ping").waitFor();
    await page.locator(".cm-lint-marker-error").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved as version 2").waitFor();

    const url = await page.locator(".url-box code").innerText();
    const answer = await call(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"kind":"real","n":9007199254740993}',
    });
    assert.equal(answer.status, 200);
    await page.getByRole("link", { name: "Requests" }).click();
    await page.getByRole("img", { name: "1 request accepted and 0 refused in this time range" }).waitFor();
    const search = page.getByRole("searchbox", { name: "Text in the body" });
    await search.fill("nowhere");
    await page.getByText("No requests match these filters").waitFor();
    await search.fill("9007199254740993");
    await page.getByRole("button", { name: /200 accepted/ }).click();
    await page.getByRole("link", { name: "View event" }).click();
    await page.waitForURL(`**/events/${answer.body.ids[0]}`);
    await page.getByRole("complementary", { name: "Event" }).getByText("acme/real").first().waitFor();
  });

  test("a provider is found, its secret pasted, and the page notices the first request; checks are edited", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), `${service.url}/env/dev/webhooks/new`, { allow: EDITING });
    await page.getByRole("searchbox", { name: "Search providers" }).fill("pull requests");
    await page.getByText("GitHub", { exact: true }).click();
    assert.equal(await page.getByText("Stripe", { exact: true }).count(), 0);
    const secret = "the secret of the webhook";
    await page.getByLabel("Secret (optional)").fill(secret);
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByText("Waiting for the first request").waitFor();
    const url = await page.locator(".url-box code").innerText();
    const body = '{"zen":"Design for failure."}';
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const headers = { "content-type": "application/json", "x-github-event": "ping", "x-github-delivery": "1" };
    assert.equal((await call(url, { method: "POST", body, headers: { ...headers, "x-hub-signature-256": signature } })).status, 200);
    await page.getByText("First request received").waitFor();
    assert.equal((await call(url, { method: "POST", body, headers })).status, 401);

    await page.getByRole("link", { name: "Settings" }).last().click();
    const checks = page.getByRole("form", { name: "Verification, handshake and response" });
    assert.equal(await checks.getByLabel("Verification").inputValue(), "github");
    await checks.getByLabel("Handshake").selectOption("slack");
    await checks.getByLabel("Response to accepted requests").selectOption("204");
    await checks.getByRole("button", { name: "Update checks" }).click();
    await page.getByText("Saved.").waitFor();
    const { data } = (await service.rest("GET", "/webhooks")).body;
    assert.deepEqual([data[0].verify.secrets, data[0].handshake, data[0].answer.status], [[{ last4: "hook" }], { preset: "slack" }, 204]);

    const mirror = page.getByRole("form", { name: "Mirroring to branches" });
    await mirror.getByLabel("Mirror events to branch environments").fill("feature/*\nmain-next");
    await mirror.getByLabel("Share of the events").fill("12.5");
    await mirror.getByRole("button", { name: "Update mirroring" }).click();
    await page.getByText("Mirroring is on.").waitFor();
    assert.deepEqual((await service.rest("GET", "/webhooks")).body.data[0].mirror, { to: ["feature/*", "main-next"], sample: 0.125 });
    await mirror.getByLabel("Share of the events").fill("7");
    await mirror.getByRole("button", { name: "Update mirroring" }).click();
    await until("7 %", async () => (await service.rest("GET", "/webhooks")).body.data[0].mirror.sample === 0.07);
    await visit(page, `/env/dev/webhooks/${data[0].id}`);
    await visit(page, `/env/dev/webhooks/${data[0].id}?tab=settings`);
    await until("the share as it was typed", async () => (await mirror.getByLabel("Share of the events").inputValue()) === "7");
    await mirror.getByLabel("Mirror events to branch environments").fill("");
    await mirror.getByRole("button", { name: "Update mirroring" }).click();
    await page.getByText("Mirroring is off.").waitFor();
    assert.equal((await service.rest("GET", "/webhooks")).body.data[0].mirror, null);

    await page.getByRole("link", { name: "Transform" }).click();
    const result = page.getByRole("region", { name: "Result" });
    await page.getByRole("textbox", { name: "Body of the test request" }).fill('{"zen":"Keep it logically awesome."}');
    await result.getByText("signature_invalid").waitFor();
    await result.getByLabel("What is wrong with the signature").getByText("X-Hub-Signature-256").waitFor();
    await page.getByLabel("Sign with the webhook's secret").check();
    await result.getByText("Signature verified").waitFor();
    await page.getByRole("textbox", { name: "Body of the test request" }).fill('{"type":"url_verification","challenge":"c-1"}');
    await result.getByText("Handshake answered").waitFor();
    await result.getByText("Response of the handshake: 200, text/plain").waitFor();
    await result.getByText("c-1").waitFor();
  });

  test("a form of a webhook's settings that is saved leaves what is typed in the others, and what others saved meanwhile", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const transform = "(evt) => ({ name: 'shop/sale', data: evt })";
    const made = async (name: string) => (await service.rest("POST", "/webhooks", { body: { name, transform } })).body.data;
    const [{ id }, other] = [await made("Hook"), await made("Other")];
    const page = await openPage(t, browser(), `${service.url}/env/dev/webhooks/${other.id}?tab=settings`);
    const name = page.getByRole("textbox", { name: "Name", exact: true });
    const mirrored = page.getByLabel("Mirror events to branch environments");
    const response = page.getByLabel("Response to accepted requests");
    await name.waitFor();
    await visit(page, `/env/dev/webhooks/${id}?tab=settings`);
    await page.getByRole("heading", { level: 1, name: "Hook" }).waitFor();
    await name.fill("Renamed");
    await mirrored.fill("feature/*");
    await service.rest("PUT", `/webhooks/${id}`, { body: { eventNames: { mode: "allow", list: ["shop/*"] } } });
    await response.selectOption("204");
    await page.getByRole("button", { name: "Update checks" }).click();
    const eventNames = page.getByRole("combobox", { name: "Event names" });
    await until("the settings that another user saved", async () => (await eventNames.inputValue()) === "allow");
    assert.deepEqual([await name.inputValue(), await mirrored.inputValue(), await response.inputValue()], ["Renamed", "feature/*", "204"]);

    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Renamed" }).waitFor();
    assert.equal(await mirrored.inputValue(), "feature/*");
    const { data } = (await service.rest("GET", `/webhooks/${id}`)).body;
    assert.deepEqual([data.name, data.answer.status, data.eventNames.list], ["Renamed", 204, ["shop/*"]]);

    // Now the page has not loaded what another user saved.
    const verify = { scheme: "github", toleranceSeconds: 300 };
    await service.rest("PUT", `/webhooks/${id}`, {
      body: { verify: { ...verify, secrets: ["a secret of the webhook"] }, handshake: { preset: "slack" } },
    });
    await response.selectOption("202");
    await page.getByRole("button", { name: "Update checks" }).click();
    await until("the response", async () => (await service.rest("GET", `/webhooks/${id}`)).body.data.answer.status === 202);
    const checked = (await service.rest("GET", `/webhooks/${id}`)).body.data;
    assert.deepEqual([checked.verify?.scheme, checked.handshake?.preset], ["github", "slack"]);
    const verification = page.getByRole("combobox", { name: "Verification" });
    await until("the checks that another user saved", async () => (await verification.inputValue()) === "github");
    await service.rest("PUT", `/webhooks/${id}`, { body: { enabled: false, eventNames: null, ips: { mode: "deny", list: ["10.0.0.1"] } } });
    await name.fill("Renamed again");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Renamed again" }).waitFor();
    const renamed = (await service.rest("GET", `/webhooks/${id}`)).body.data;
    assert.deepEqual([renamed.enabled, renamed.eventNames, renamed.ips?.mode], [false, null, "deny"]);

    for (const tab of ["settings", "reconcile"] as const) {
      const typed = tab === "settings" ? mirrored : page.getByLabel("Compare with the list of");
      await visit(page, `/env/dev/webhooks/${other.id}?tab=${tab}`);
      await page.getByRole("heading", { level: 1, name: "Other" }).waitFor();
      await typed.waitFor();
      await visit(page, `/env/dev/webhooks/${id}?tab=${tab}`);
      await page.getByRole("heading", { level: 1, name: "Renamed again" }).waitFor();
      await (tab === "settings" ? typed.fill("fix/*") : typed.selectOption("github"));
      await visit(page, `/env/dev/webhooks/${other.id}?tab=${tab}`);
      await page.getByRole("heading", { level: 1, name: "Other" }).waitFor();
      assert.equal(await typed.inputValue(), "", `${tab} of another webhook`);
    }
  });

  test("a draft is run on recorded requests; versions are compared and restored; a request is replayed", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const first = 'function transform(evt) { return { name: "v/one", data: { n: evt.n } }; }';
    const made = await service.rest("POST", "/webhooks", { body: { name: "Hook", transform: first } });
    const { id, url } = made.body.data;
    for (const n of [1, 2])
      await call(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ n }) });

    const page = await openPage(t, browser(), `${service.url}/env/dev/webhooks/${id}`, { allow: EDITING });
    await page.getByRole("region", { name: "Result" }).getByText('"v/one"').waitFor();
    await write(page, 'function transform(evt) { return { name: "v/two", data: { n: evt.n } }; }');
    await page.getByText("draft, not saved").waitFor();
    await page.reload();
    await page.getByText("draft, not saved").waitFor();
    await page.getByRole("button", { name: "Run on recent requests" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("2 · Different event").waitFor();
    assert.match(await dialog.locator(".diff-line").first().innerText(), /name\s*"v\/one"\s*"v\/two"/);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved as version 2").waitFor();

    await page.getByRole("link", { name: "Versions" }).click();
    await page.locator(".cm-deletedChunk").first().waitFor();
    await page.getByRole("button", { name: /^v1.* by .+/ }).click();
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByText("Version 1 is current again").waitFor();
    assert.equal((await service.rest("GET", `/webhooks/${id}`)).body.data.transform, first);

    await page.getByRole("link", { name: "Requests" }).click();
    await page
      .getByRole("button", { name: /200 accepted/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Replayed through the current transform").waitFor();
    assert.equal((await service.rest("GET", `/webhooks/${id}/requests`)).body.data.length, 3);
  });

  test("an editor in which nobody typed follows the deployed transform, and a draft stays", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const version = (n: number, end = "\n") => `function transform(evt) {${end}  return { name: "v/${n}", data: evt };${end}}`;
    const { id } = (await service.rest("POST", "/webhooks", { body: { name: "Hook", transform: version(1) } })).body.data;
    const page = await openPage(t, browser(), `${service.url}/env/dev/webhooks/${id}`, { allow: EDITING });
    const editor = page.getByRole("textbox", { name: "Transform, JavaScript" });
    const heading = page.getByRole("heading", { name: /^Transform/ });
    const deploy = async (transform: string) => {
      await visit(page, "/env/dev/keys");
      await service.rest("PUT", `/webhooks/${id}`, { body: { transform } });
      await visit(page, `/env/dev/webhooks/${id}`);
    };
    await editor.getByText("v/1").waitFor();
    await deploy(version(2));
    await until("the new version", async () => (await heading.innerText()) !== "Transform version 1");
    assert.equal(await heading.innerText(), "Transform version 2");
    await editor.getByText("v/2").waitFor();

    // The editor shows it with other line ends.
    await deploy(version(3, "\r\n"));
    await editor.getByText("v/3").waitFor();
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert.equal(await heading.innerText(), "Transform version 3");

    await write(page, version(9));
    await page.getByText("draft, not saved").waitFor();
    await deploy(version(4));
    await editor.getByText("v/9").waitFor();
    await page.getByRole("button", { name: "Discard" }).click();
    await editor.getByText("v/4").waitFor();
    assert.equal(await heading.innerText(), "Transform version 4");

    await write(page, version(9));
    await page.getByText("draft, not saved").waitFor();
    await write(page, version(4));
    await page.getByText("draft, not saved").waitFor({ state: "detached" });
    await deploy(version(5));
    await until("the new version", async () => (await heading.innerText()) !== "Transform version 4");
    assert.equal(await heading.innerText(), "Transform version 5");
  });

  test("a draft that began with an older version replaces a newer one only when that is confirmed", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const version = (n: number) => `transform = () => ({ name: "v/${n}", data: {} })`;
    const { id } = (await service.rest("POST", "/webhooks", { body: { name: "Hook", transform: version(1) } })).body.data;
    const page = await openPage(t, browser(), `${service.url}/env/dev/webhooks/${id}`, { allow: EDITING });
    const stored = async () => (await service.rest("GET", `/webhooks/${id}`)).body.data.transform;
    await write(page, version(9));
    await page.getByText("draft, not saved").waitFor();
    await service.rest("PUT", `/webhooks/${id}`, { body: { transform: version(2) } });
    await page.reload();
    await page.getByText("draft of version 1, not saved").waitFor();
    const save = page.getByRole("button", { name: "Save" });
    await save.click();
    await page.getByRole("dialog", { name: "Replace version 2?" }).getByRole("button", { name: "Cancel" }).click();
    assert.equal(await stored(), version(2));
    // This page has not read of it.
    await service.rest("PUT", `/webhooks/${id}`, { body: { transform: version(3) } });
    await save.click();
    const dialog = page.getByRole("dialog", { name: "Replace version 3?" });
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved as version 4").waitFor();
    assert.equal(await stored(), version(9));
  });

  test("a viewer sees the transform and is offered nothing that the service refuses", async (t) => {
    const service = await startTestService(t);
    const transform = 'transform = () => ({ name: "v/1", data: {} })';
    const { id } = (await service.rest("POST", "/webhooks", { body: { name: "Hook", transform } })).body.data;
    const { key } = (await service.rest("POST", "/keys", { body: { kind: "api", name: "viewer", role: "viewer" } })).body.data;
    const path = `/env/production/webhooks/${id}`;
    const page = await openPage(t, browser(), `${service.url}/login?next=${encodeURIComponent(path)}`, { allow: /40[13]/ });
    await signIn(page, key);
    await page.getByRole("textbox", { name: "Transform, JavaScript" }).getByText("v/1").waitFor();
    await page.getByRole("region", { name: "Test request" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Run on recent requests" }).waitFor({ state: "detached" });
  });

  test("the URL is rotated; a webhook is disabled and deleted", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const made = await service.rest("POST", "/webhooks", {
      body: { name: "Hook", transform: 'transform = () => ({ name: "a/b", data: {} })' },
    });
    const { id, url } = made.body.data;
    const page = await openPage(t, browser(), "about:blank");
    await page.clock.install();
    await page.goto(`${service.url}/env/dev/webhooks/${id}`);
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await page.getByText("The webhook has a new URL").waitFor();
    const rotated = await until("the new URL", async () => {
      const shown = await page.locator(".url-box code").innerText();
      return shown !== url && shown;
    });
    assert.equal((await call(url, { method: "POST" })).status, 404);
    assert.equal((await call(rotated, { method: "POST" })).status, 200);

    await page.getByRole("link", { name: "Settings" }).last().click();
    await page.getByRole("checkbox", { name: "Accept requests" }).uncheck();
    await page.getByRole("combobox", { name: "Event names" }).selectOption("allow");
    await page.getByRole("textbox", { name: "Event names, one per line" }).fill("a/*\nb/c");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    const { data } = (await service.rest("GET", `/webhooks/${id}`)).body;
    assert.deepEqual([data.enabled, data.eventNames], [false, { mode: "allow", list: ["a/*", "b/c"] }]);

    const asked: string[] = [];
    await page.route(`**/v1/webhooks/${id}`, async (route) => {
      if (route.request().method() !== "DELETE") return route.fallback();
      page.on("request", (request) => request.url().includes(id) && asked.push(request.url()));
      const response = await route.fetch();
      // The webhook is gone and the page does not know it yet: whatever polls asks now.
      await page.clock.runFor(15_000);
      await route.fulfill({ response });
    });
    await page.getByRole("button", { name: "Delete webhook" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No webhooks yet").waitFor();
    assert.deepEqual(asked, [], "nothing asks for a webhook that was deleted");
  });
}
