/** Each preset of reconciliation, against its provider as documented: what was delivered is known, the rest is recovered once, keys stay secret. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { RECONCILE_PRESETS } from "@inlet/protocol";
import { PROVIDERS, readProviderTransform } from "@inlet/providers";
import { KEY, PRESET_CASES, SINCE, TOKEN, UNTIL } from "./support/preset-cases.ts";
import { type Asked, type ProviderResponse, startProvider } from "./support/provider.ts";
import { until } from "./support/runs.ts";
import { startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post, requestsOf, type TestWebhook } from "./support/webhooks.ts";

async function passOf(service: TestService, { id }: TestWebhook) {
  const { body, status } = await service.rest("POST", `/webhooks/${id}/reconcile`, { body: { since: SINCE, until: UNTIL } });
  assert.equal(status, 202, JSON.stringify(body));
  const job = await until("the end of the pass", async () => {
    const { data } = (await service.rest("GET", `/jobs/${body.data.id}`)).body;
    return data.endedAt ? data : undefined;
  });
  const [{ listed, seen, recovered, failed, error }] = (await service.rest("GET", `/webhooks/${id}/reconciliations`)).body.data;
  return { counts: [listed, seen, recovered, failed], error, errors: job.errors };
}

/** The case whose name begins the path, and the path of the API. */
function caseOf({ url }: Asked): [name: string, path: string] {
  const [, name = "", path = ""] = /^\/([^/]+)(\/.*)$/.exec(url.pathname) ?? [];
  return [name, path];
}

function answered(asked: Asked): ProviderResponse {
  const [name, path] = caseOf(asked);
  const known = PRESET_CASES[name as keyof typeof PRESET_CASES];
  return known?.answer(path, asked.url.searchParams, asked) ?? { status: 404, body: "not here" };
}

test("presets know what the starter transforms received, and recover the rest once, though their providers limit the rate", async (t) => {
  const service = await startTestService(t, {});
  const limited = new Set<string>();
  const faults: unknown[] = [];
  const provider = await startProvider(t, (asked) => {
    const [name] = caseOf(asked);
    if (!limited.has(name)) {
      limited.add(name);
      return { status: 429, headers: { "retry-after": "0" } };
    }
    try {
      return answered(asked);
    } catch (fault) {
      faults.push(fault);
      return { status: 500, body: "see faults" };
    }
  });
  for (const [preset, { options, delivered, counts, recovered }] of Object.entries(PRESET_CASES)) {
    const reconcile = { preset, ...options, secrets: [KEY], baseUrl: `${provider.url}/${preset}` };
    const webhook = await makeWebhook(service, await readProviderTransform(preset), { reconcile });
    const received = await post(webhook.url, delivered.body, delivered.headers);
    assert.equal(received.status, 200, `${preset}: ${received.text}`);

    const first = await passOf(service, webhook);
    assert.deepEqual(faults, [], preset);
    assert.deepEqual([first.counts, first.error], [counts, null], preset);
    const events = (await service.rest("GET", `/events?source=${webhook.id}&limit=100`)).body.data;
    const found = events.filter(({ reconciled }: { reconciled?: boolean }) => reconciled === true);
    const named = found.map(({ name, dedupId }: { name: string; dedupId: string }) => `${name} ${dedupId}`);
    assert.deepEqual(named.sort(), recovered, preset);
    // A lost body is told in each pass, and everything else is there.
    assert.deepEqual((await passOf(service, webhook)).counts, [counts[0], counts[0] - counts[3], 0, counts[3]], preset);
    assert.equal(first.errors.length, counts[3], preset);
    for (const { message } of first.errors) assert.match(message, /body/, preset);

    const shown = await Promise.all([service.rest("GET", `/webhooks/${webhook.id}`), service.rest("GET", "/jobs")]);
    const records = JSON.stringify(await requestsOf(service, webhook, "limit=100"));
    for (const text of [...shown.map((answer) => answer.text), records])
      assert.equal(text.includes(KEY) || text.includes(TOKEN), false, preset);
  }
  const signIns = provider.asked.filter(({ url }) => /\/(oauth2?)\/token$/.test(url.pathname));
  assert.equal(signIns.length, 4, "one each, after the one that was limited");
});

test("tokens stay secret, expire with a page that fails, and go to no other origin; neither do keys", async (t) => {
  const service = await startTestService(t, {});
  const other = await startProvider(t, () => ({ body: [] }));
  let mode = "loud";
  const provider = await startProvider(t, (asked) => {
    const isSignIn = asked.url.pathname.endsWith("/oauth/token");
    if (mode === "moved" && isSignIn) return { status: 307, headers: { location: `${other.url}/oauth/token` } };
    if (mode === "left" && !isSignIn) return { status: 302, headers: { location: `${other.url}/logs` } };
    if (isSignIn) return { body: { access_token: TOKEN, expires_in: 86_400 } };
    return mode === "loud" ? { status: 500, body: `not with ${TOKEN} of ${KEY}` } : { body: { not: "a list" } };
  });
  const { options } = PRESET_CASES.auth0;
  const reconcile = { preset: "auth0", ...options, secrets: [KEY], baseUrl: provider.url };
  const webhook = await makeWebhook(service, await readProviderTransform("auth0"), { reconcile });

  assert.equal((await passOf(service, webhook)).error, "The provider answered with status 500: not with *** of ***");
  mode = "odd";
  assert.match((await passOf(service, webhook)).error, /no list of logs/);
  assert.equal(provider.asked.filter(({ url }) => url.pathname === "/oauth/token").length, 2, "a token that failed is not used again");
  mode = "moved";
  assert.match((await passOf(service, webhook)).error, /redirected a request with a body to another origin/);
  assert.equal(other.asked.length, 0, "the secret of the client did not leave");
  mode = "left";
  assert.equal((await passOf(service, webhook)).error, null);
  assert.deepEqual(
    other.asked.map(({ headers }) => headers.authorization),
    [undefined],
  );
});

test("options of presets are checked, and stored keys follow no other host", async (t) => {
  const service = await startTestService(t, {});
  const transform = "(evt) => ({ name: 'a/b', data: evt })";
  const refused = async (reconcile: Record<string, unknown>, field: string) => {
    const answer = await service.rest("POST", "/webhooks", { body: { name: "w", transform, reconcile: { secrets: [KEY], ...reconcile } } });
    assert.deepEqual([answer.status, answer.body.details?.[0]?.field], [400, `reconcile.${field}`], JSON.stringify(reconcile));
  };
  for (const [preset, { options = {} }] of Object.entries(PRESET_CASES)) {
    const known: Readonly<Record<string, { isRequired: boolean; isList: boolean }>> =
      RECONCILE_PRESETS[preset as keyof typeof PRESET_CASES];
    for (const [name, { isRequired, isList }] of Object.entries(known)) {
      const { [name]: _, ...without } = options;
      if (isRequired) await refused({ preset, ...without }, name);
      await refused({ preset, ...without, [name]: isList ? ["no such thing"] : "no such thing" }, name);
    }
    await refused({ preset, ...options, shop: "acme.myshopify.com" }, "shop");
  }
  for (const domain of ["acme.example.com", "auth0.com", "acme.auth0.com.example.com", "169.254.169.254/.auth0.com"]) {
    await refused({ preset: "auth0", clientId: "c", domain }, "domain");
  }
  for (const site of ["http://shop.example.com", "https://user@shop.example.com", "https://shop.example.com?x", "shop.example.com"]) {
    await refused({ preset: "woocommerce", consumerKey: "ck_1", site }, "site");
  }

  const made = await makeWebhook(service, transform, { reconcile: { preset: "auth0", ...PRESET_CASES.auth0.options, secrets: [KEY] } });
  const put = (change: object) =>
    service.rest("PUT", `/webhooks/${made.id}`, { body: { reconcile: { preset: "auth0", ...PRESET_CASES.auth0.options, ...change } } });
  assert.equal((await put({ every: "1h" })).status, 200);
  assert.equal((await put({ domain: "other.auth0.com" })).body.details[0].field, "reconcile.secrets");
  assert.equal((await put({ domain: "other.auth0.com", secrets: [KEY] })).status, 200);

  const metadata = { preset: "woocommerce", site: "https://169.254.169.254", consumerKey: "ck_1", secrets: [KEY] };
  assert.match((await passOf(service, await makeWebhook(service, transform, { reconcile: metadata }))).error, /metadata address/);
});

test("each preset is one provider's of the catalogue, which names the page that it rests on", async () => {
  const offered = PROVIDERS.flatMap(({ reconcile }) => reconcile ?? []);
  assert.deepEqual(offered.sort(), Object.keys(RECONCILE_PRESETS).sort());
  for (const { id, reconcile, source } of PROVIDERS.filter((provider) => provider.reconcile)) {
    assert.equal(reconcile, id);
    const preset = await readFile(new URL(`../src/reconcile/presets/${id}.ts`, import.meta.url), "utf8");
    assert.ok(preset.includes(` ${source.reconcile}`), `${id} rests on ${source.reconcile}`);
  }
});
