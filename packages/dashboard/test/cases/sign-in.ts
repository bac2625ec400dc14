/** Signing in to a service that requires keys. */

import assert from "node:assert/strict";
import type { Browser, Route } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { freePort } from "../../../server/test/support/free-port.ts";
import { startProvider } from "../../../server/test/support/oidc.ts";
import { API_KEY, startTestService } from "../../../server/test/support/service.ts";
import { openPage } from "../support/browser.ts";
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
    const makeKey = async (body: object) => (await service.rest("POST", "/keys", { body: { kind: "api", ...body } })).body.data.key;
    const page = await openPage(t, browser(), `${service.url}/login`, REFUSED);
    await signIn(page, await makeKey({ name: "Looker", role: "read" }));
    await page.getByRole("heading", { name: "production" }).waitFor();
    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("cell", { name: "Looker" }).waitFor();
    assert.equal(await page.getByRole("button", { name: /Revoke|New/ }).count(), 0);

    await page.getByRole("button", { name: "Your session" }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await signIn(page, await makeKey({ name: "Staging only", environments: ["staging"] }));
    await page.waitForURL("**/env/staging");
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByText("No events yet").waitFor();
  });
}
