/** What an attacker has is a browser: a page of another site, a script on the page, another host of the domain, many attempts. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { before, describe, type TestContext } from "node:test";
import type { Browser, Page } from "playwright-core";
import { runsOf, startApp } from "../../server/test/support/app.ts";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { API_KEY, startTestService, type TestService } from "../../server/test/support/service.ts";
import { openPage } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { signIn } from "./support/sign-in.ts";
import { until } from "./support/until.ts";

const REFUSED = { allow: /40[13]|429|CORS|ERR_FAILED|ERR_BLOCKED_BY_RESPONSE|fetch/ };
const SECRET = "sk-browser-4711-0815";

async function signedIn(t: TestContext, browser: Browser, service: TestService, key = API_KEY): Promise<Page> {
  const page = await openPage(t, browser, `${service.url}/login`, REFUSED);
  await signIn(page, key);
  await page.getByRole("heading", { name: "production" }).waitFor();
  return page;
}

/** A page of another site: to a browser, `localhost` and 127.0.0.1 are two. */
async function startOtherSite(t: TestContext): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(200, { "content-type": "text/html" }).end("<h1>Win a prize</h1>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => void server.close().closeAllConnections());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

const keyNames = async (service: TestService) => (await service.rest("GET", "/keys")).body.data.map(({ name }: { name: string }) => name);

describe("attacks from a browser", () => {
  let launched: Browser;
  before(async () => {
    launched = await sharedBrowser();
  });
  const browser = () => launched;

  test("a session cannot be read by a script, nor used by a page of another site", async (t) => {
    const service = await startTestService(t);
    const page = await signedIn(t, browser(), service);
    const cookies = await page.context().cookies();
    assert.deepEqual(
      cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]),
      [["inlet_session", true, "Strict"]],
    );
    assert.equal(await page.evaluate("document.cookie"), "");
    const stored = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
    for (const secret of [API_KEY, cookies[0]?.value ?? ""]) assert.ok(!String(stored).includes(secret));

    await page.goto(await startOtherSite(t));
    const attack = `(async () => {
      const body = JSON.stringify({ kind: "api", name: "stolen", role: "admin" });
      const tries = [
        fetch("${service.url}/v1/keys", { method: "POST", credentials: "include", mode: "no-cors", body }),
        fetch("${service.url}/v1/keys", { method: "POST", credentials: "include", headers: { "content-type": "application/json" }, body }),
        fetch("${service.url}/v1/keys", { credentials: "include" }).then((answer) => answer.text()),
      ];
      return (await Promise.allSettled(tries)).map(({ status, value }) => status + (typeof value === "string" ? value : ""));
    })()`;
    const outcome = (await page.evaluate(attack)) as string[];
    assert.deepEqual(outcome.slice(1), ["rejected", "rejected"], "the page reads nothing");
    assert.ok(!(await keyNames(service)).includes("stolen"));
    const form = `document.body.innerHTML = '<form method="post" enctype="text/plain" action="${service.url}/v1/keys"><input name="{&quot;kind&quot;:&quot;api&quot;,&quot;name&quot;:&quot;stolen&quot;,&quot;x&quot;:&quot;" value="&quot;}"></form>'; document.forms[0].submit()`;
    await Promise.all([page.waitForURL(`${service.url}/**`), page.evaluate(form)]);
    assert.ok(!(await keyNames(service)).includes("stolen"), "nor does a form change anything");
  });

  test("a cookie that another host of the domain has planted opens nothing where the service is reached by https", async (t) => {
    const service = await startTestService(t, { flags: ["--public-url", "https://inlet.example"] });
    const made = await fetch(`${service.url}/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
      body: JSON.stringify({ apiKey: API_KEY }),
    });
    const [, token = ""] = /^__Host-inlet_session=([\w-]+);/.exec(made.headers.get("set-cookie") ?? "") ?? [];
    assert.ok(token !== "");
    const page = await openPage(t, browser(), `${service.url}/health`, REFUSED);
    await page.context().addCookies([{ name: "inlet_session", value: token, url: service.url }]);
    await page.goto(`${service.url}/env/production/events`);
    await page.getByRole("heading", { name: "Sign in to Inlet" }).waitFor();
  });

  test("guessing is stopped after ten attempts, also for the right key, and a person who is signed in goes on", async (t) => {
    // On a slow machine, time would forgive what is counted here.
    const now = Date.now();
    const service = await startTestService(t, { now: () => now });
    const person = await signedIn(t, browser(), service);
    const made = await service.rest("POST", "/keys", { body: { kind: "api", name: "new", role: "viewer" } });
    const page = await openPage(t, browser(), `${service.url}/login`, REFUSED);
    for (let n = 0; n < 10; n++) {
      const answered = page.waitForResponse((response) => response.url().endsWith("/v1/session") && response.request().method() === "POST");
      await signIn(page, `guess-${n}`);
      assert.equal((await answered).status(), 401);
    }
    await signIn(page, "one-too-many");
    await page.getByRole("alert").getByText("Too many attempts").waitFor();
    await signIn(page, made.body.data.key);
    await page.getByRole("alert").getByText("Too many attempts").waitFor();
    await person.goto(`${service.url}/env/production/events`);
    await person.getByText("No events yet").waitFor();
  });

  test("a viewer's browser is sent no secret of a step's request or of a webhook's URL", async (t) => {
    const service = await startTestService(t);
    const api = createServer((_request, response) => response.end("ok"));
    await new Promise<void>((resolve) => api.listen(0, "127.0.0.1", resolve));
    onEnd(t, () => void api.close().closeAllConnections());
    const host = `127.0.0.1:${(api.address() as AddressInfo).port}`;
    await startApp(t, service, (inlet) => [
      inlet.createFunction({ id: "fetch" }, { event: "shop/fetch" }, async ({ step }) => {
        const options = { method: "POST", headers: { authorization: `Bearer ${SECRET}` }, body: JSON.stringify({ password: SECRET }) };
        await step.fetch(`http://user:${SECRET}@${host}/rates?key=${SECRET}`, options);
      }),
    ]);
    const { body } = await service.send({ name: "shop/fetch", data: {} });
    const [run] = await runsOf(service, body.ids[0]);
    const webhook = await service.rest("POST", "/webhooks", {
      body: { name: "hook", transform: 'function transform() { return { name: "a/b", data: {} }; }' },
    });
    const [token = ""] = new URL(webhook.body.data.url).pathname.split("/").slice(-1);
    const viewer = await service.rest("POST", "/keys", { body: { kind: "api", name: "Viewer", role: "viewer" } });

    const page = await signedIn(t, browser(), service, viewer.body.data.key);
    const received: string[] = [];
    page.on("response", async (response) => {
      if (response.url().includes("/v1/") && !response.url().includes("stream")) received.push(await response.text().catch(() => ""));
    });
    await page.goto(`${service.url}/env/production/runs/${run.id}`);
    await page.getByText("completed").first().waitFor();
    await until("the step with its request", async () => received.some((text) => text.includes(`${host}/rates`)));
    assert.ok(!(await page.content()).includes(SECRET));
    await page.goto(`${service.url}/env/production/webhooks/${webhook.body.data.id}`);
    await page.getByText("hook").first().waitFor();
    await until("the webhook", async () => received.some((text) => text.includes(webhook.body.data.id)));
    for (const secret of [SECRET, token]) assert.ok(!`${received}${await page.content()}`.includes(secret), secret);
  });
});
