/** Signing in to a service that requires keys. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser, Route } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { freePort } from "../../../server/test/support/free-port.ts";
import { startProvider } from "../../../server/test/support/oidc.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { API_KEY, SIGNING_KEY, startTestService, type TestService } from "../../../server/test/support/service.ts";
import { makeWebhook, post } from "../../../server/test/support/webhooks.ts";
import { startShopApp } from "../support/app.ts";
import { openPage, visit } from "../support/browser.ts";
import { delayNext } from "../support/delay-next.ts";
import { signIn } from "../support/sign-in.ts";
import { until } from "../support/until.ts";

const REFUSED = { allow: /40[13]/ };
const LONGER_THAN_A_SESSION_MS = 13 * 3_600_000;

export function signInCases(browser: () => Browser): void {
  test("a wrong key is refused; a valid key leads to the requested page; sign-out works; an expired session asks to sign in again", async (t) => {
    let ahead = 0;
    const service = await startTestService(t, { now: () => Date.now() + ahead });
    const [id] = (await service.send({ name: "a/b", data: { secret: 1 } })).body.ids;
    const page = await openPage(t, browser(), `${service.url}/env/production/events/${id}`, REFUSED);
    await page.getByRole("heading", { name: "Sign in to Inlet" }).waitFor();
    assert.equal(await page.getByText("secret").count(), 0);
    await signIn(page, "wrong");
    await page.getByRole("alert").getByText("unknown or was revoked").waitFor();
    await signIn(page, API_KEY);
    await page.waitForURL(`**/env/production/events/${id}`);
    await page.getByText("secret").first().waitFor();
    await page.getByRole("button", { name: /^Live/ }).waitFor();

    await page.getByRole("button", { name: "Send event" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.getByRole("listitem").filter({ hasText: "shop/order.created" }).waitFor();

    await page.getByRole("button", { name: "Your session" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in to Inlet" }).waitFor();
    const lateResponse = await delayNext(page, "**/v1/environments*");
    await page.goto(`${service.url}/env/production/keys`);
    await page.getByRole("heading", { name: "Sign in to Inlet" }).waitFor();

    await signIn(page, API_KEY);
    await page.waitForURL("**/env/production/keys");
    await page.getByRole("cell", { name: "admin" }).first().waitFor();
    await lateResponse();
    await page.getByRole("cell", { name: "admin" }).first().waitFor();
    assert.match(page.url(), /\/keys$/, "what was refused before does not end the new session");
    // With the first request of the next page: whatever polls before would lead back to the page of keys.
    await page.route(/\/v1\/webhooks\b/, (route) => {
      ahead = LONGER_THAN_A_SESSION_MS;
      return route.fallback();
    });
    await page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await page.getByText("Your session has ended").waitFor();
    await signIn(page, API_KEY);
    await page.waitForURL("**/env/production/webhooks");
  });

  test("a person signs in with their provider, on another site, and signs out everywhere", async (t) => {
    const port = await freePort();
    const home = `http://127.0.0.1:${port}`;
    const issuer = await startProvider(t, `${home}/oidc/callback`, { jane: ["ops"] }, "localhost");
    const flags = ["--oidc-issuer", issuer, "--oidc-client-id", "inlet", "--oidc-client-secret", "a-secret-of-inlet"];
    const service = await startTestService(t, { port, flags: [...flags, "--oidc-roles", "groups:ops=operator"] });
    const signInWithProvider = async () => {
      // The settings look for a dev server, and there is none.
      const page = await openPage(t, browser(), `${home}/login`, { allow: /401|ERR_CONNECTION_REFUSED/ });
      // The provider's own pages ask for fonts from elsewhere.
      await page.route(/^https:/, (route) => route.fulfill({ body: "" }));
      await page.getByRole("link", { name: "Sign in with your provider" }).click();
      await page.getByPlaceholder("Enter any login").fill("jane");
      await page.getByPlaceholder("and password").fill("any");
      await page.getByRole("button", { name: "Sign-in" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByRole("heading", { name: "production" }).waitFor();
      return page;
    };
    const [first, second] = [await signInWithProvider(), await signInWithProvider()];
    await first.getByRole("link", { name: "Keys", exact: true }).click();
    const people = first.getByRole("region", { name: "Roles of people" });
    await people.getByRole("row", { name: "groups ops operator in every environment" }).waitFor();
    await first.getByRole("link", { name: "Settings" }).click();
    const open = first.getByRole("region", { name: "Open sessions" });
    await until("both sessions", async () => (await open.getByRole("cell", { name: /^jane@example\.com/ }).count()) === 2);
    await open.getByRole("button", { name: "Sign out everywhere" }).click();
    await first.getByRole("heading", { name: "Sign in to Inlet" }).waitFor();
    await second.goto(`${home}/env/production/events`);
    await second.getByRole("heading", { name: "Sign in to Inlet" }).waitFor();
    assert.equal((await service.rest("GET", "/sessions")).body.data.length, 0);
  });

  test("a sign-out that fails leaves the page open and says that the session goes on", async (t) => {
    const service = await startTestService(t);
    const page = await openPage(t, browser(), `${service.url}/login`, { allow: /40[13]|500|ERR_CONNECTION_REFUSED/ });
    await signIn(page, API_KEY);
    await page.getByRole("heading", { name: "production" }).waitFor();
    await page.getByRole("link", { name: "Settings" }).click();
    const refuse = (route: Route) =>
      route.request().method() === "DELETE"
        ? route.fulfill({ status: 500, json: { error: "The store is busy.", code: "internal" } })
        : route.fallback();
    await page.route(/\/v1\/session(\?|$)/, refuse);
    const stays = page.getByText("You are still signed in: The store is busy.");
    const left = page.getByRole("heading", { name: "Sign in to Inlet" });
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await stays.or(left).waitFor();
    assert.equal(await left.count(), 0);
    await page.getByRole("button", { name: "Your session" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await stays.nth(1).waitFor();
    await page.getByRole("heading", { name: "Settings" }).waitFor();

    await page.unroute(/\/v1\/session(\?|$)/, refuse);
    await page.getByRole("button", { name: "Your session" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await left.waitFor();
  });

  test("a login link signs in once", async (t) => {
    const service = await startTestService(t);
    const link = `${service.url}/login#token=${service.issueLoginToken()}`;
    const page = await openPage(t, browser(), link, REFUSED);
    await page.getByRole("heading", { name: "production" }).waitFor();
    assert.doesNotMatch(page.url(), /token/);
    const again = await openPage(t, browser(), link, REFUSED);
    await again.getByRole("alert").getByText("login link was used before").waitFor();
  });

  test("a read-only key gets no buttons for changes; a key restricted to an environment opens that environment", async (t) => {
    const service = await startTestService(t);
    await service.rest("POST", "/environments", { body: { name: "staging" } });
    const page = await openPage(t, browser(), `${service.url}/login`, REFUSED);
    await signIn(page, await makeApiKey(service, { name: "Looker", role: "read" }));
    await page.getByRole("heading", { name: "production" }).waitFor();
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("cell", { name: "Looker" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /Revoke|New/ }).count(), 0);

    await page.getByRole("button", { name: "Your session" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await signIn(page, await makeApiKey(service, { name: "Staging only", environments: ["staging"] }));
    await page.waitForURL("**/env/staging");
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByText("No events yet").waitFor();
  });

  test("an ingest-admin is offered webhooks and schemas, and nothing that only other roles may do", async (t) => {
    const { service, webhook } = await startWithObjects(t);
    const page = await openPage(t, browser(), `${service.url}/login`, REFUSED);
    await signIn(page, await makeApiKey(service, { name: "Ingest", role: "ingest-admin" }));
    await page.getByRole("link", { name: "Environments", exact: true }).click();
    await page.getByRole("button", { name: "Usage of staging" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^Settings of|environment$|^More actions|Add database/ }).count(), 0);
    await page.getByRole("button", { name: "Usage of staging" }).click();
    await page.getByRole("dialog").getByText("Events").first().waitFor();
    assert.equal(await page.getByRole("dialog").getByRole("button", { name: "Save" }).count(), 0);

    await visit(page, "/env/production/events");
    await page.getByRole("listitem").filter({ hasText: "shop/order.created" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "All of this list" }).count(), 0);

    await visit(page, "/env/production/event-types/shop%2Forder.created");
    const schema = page.getByRole("region", { name: "Schema" });
    const mode = schema.getByLabel("Mode");
    await schema.getByRole("button", { name: "Save" }).waitFor();
    assert.equal(await schema.getByRole("option", { name: "Refuse them" }).isDisabled(), true);
    await mode.selectOption("warn");
    await page.getByText("The mode was changed.").waitFor();
    await service.rest("PUT", "/event-types/shop%2Forder.created", { body: { mode: "refuse" } });
    await visit(page, "/env/production/event-types");
    await visit(page, "/env/production/event-types/shop%2Forder.created");
    await until("the mode of the admin", async () => (await mode.inputValue()) === "refuse");
    assert.equal(await schema.getByRole("button", { name: "Save" }).count(), 0);

    await visit(page, `/env/production/webhooks/${webhook.id}?tab=requests`);
    await page.getByRole("button", { name: "Rotate" }).waitFor();
    await page.getByRole("button", { name: /200 accepted/ }).click();
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Replayed through the current transform").waitFor();
  });

  test("an operator is offered to sync apps and replay requests, not to remove apps or change webhooks", async (t) => {
    const { service, webhook } = await startWithObjects(t);
    const app = await startShopApp(service.url, SIGNING_KEY);
    onEnd(t, () => app.stop());
    await service.rest("POST", "/apps", { body: { url: app.url } });
    const page = await openPage(t, browser(), `${service.url}/login`, REFUSED);
    await signIn(page, await makeApiKey(service, { name: "On call", role: "operator" }));
    await page.getByRole("link", { name: "Apps", exact: true }).click();
    await page.getByRole("region", { name: "shop" }).waitFor();
    assert.deepEqual(await page.getByRole("button", { name: /Sync|Remove/ }).allInnerTexts(), ["Sync an app", "Sync again"]);
    await page.getByRole("button", { name: "Sync again" }).click();
    await page.getByText(/^shop synced/).waitFor();

    await visit(page, `/env/production/webhooks/${webhook.id}?tab=requests`);
    await page.getByRole("button", { name: /200 accepted/ }).click();
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Replayed through the current transform").waitFor();
    assert.equal(await page.getByRole("button", { name: "Rotate" }).count(), 0);
  });
}

const makeApiKey = async (service: TestService, body: object): Promise<string> =>
  (await service.rest("POST", "/keys", { body: { kind: "api", ...body } })).body.data.key;

/** A service with an event, and a webhook that received a request. */
async function startWithObjects(t: TestContext) {
  const service = await startTestService(t);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  await service.send({ name: "shop/order.created", data: { orderId: "o_1" } });
  const webhook = await makeWebhook(service);
  await post(webhook.url, { n: 1 });
  return { service, webhook };
}
