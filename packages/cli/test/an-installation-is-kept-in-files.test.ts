/** `inlet plan`, `inlet apply`, `inlet export`: environments, event types, alert rules, limits of functions, API keys and webhooks as files. */

import assert from "node:assert/strict";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test as testOnce } from "node:test";
import { parse } from "yaml";
import { test } from "../../server/test/support/both-stores.ts";
import { until } from "../../server/test/support/runs.ts";
import { FILES_ROWS } from "../src/files/files-rows.ts";
import { ALERT_RULE, API_KEY, ENVIRONMENT_SETTINGS, EVENT_TYPE, FUNCTION_LIMITS } from "../src/files/format/file-schema.ts";
import { readGuide } from "./support/guide.ts";
import { startSmallApp } from "./support/small-app.ts";
import { unsteadyProxy } from "./support/unsteady-proxy.ts";
import { startDev, startServer, type WorkingFolder, workingFolder } from "./support/working-folder.ts";

const SCHEMA = { type: "object", properties: { orderId: { type: "integer" } }, required: ["orderId"] };
const TRANSFORM = "() => ({ name: 'a/b', data: {} })";

type Rest = Awaited<ReturnType<typeof startServer>>["rest"];

/** A dev server with an app, whose functions can be limited. */
async function startWithApp(t: TestContext) {
  const url = await startDev(t);
  const app = await startSmallApp(t, url, { ship: () => ({ status: 200, body: {} }), bill: () => ({ status: 200, body: {} }) });
  const rest: Rest = async (method, path, body, environment) => {
    const headers = {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(environment !== undefined && { "x-service-env": environment }),
    };
    const response = await fetch(`${url}/v1${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    const answer = (await response.json()) as any;
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  await rest("POST", "/apps", { url: app.url });
  return { url, rest, place: workingFolder(t, { INLET_BASE_URL: url }) };
}

/** One of everything that files describe. */
async function fill(rest: Rest): Promise<void> {
  await rest("POST", "/environments", { name: "staging", bodyLimitBytes: 1_000_000 });
  await rest("PUT", "/environments/staging", {
    retention: { events: "720h", requests: "36h" },
    quotas: { eventsPerDay: 1000, storedBytes: 1_000_000 },
  });
  await rest("POST", "/environments", { name: "old" });
  await rest("POST", "/environments/old/archive");
  await rest("POST", "/environments", { name: "feature/cart", kind: "branch" });
  await rest("PUT", "/event-types/shop%2Forder.created", { schema: SCHEMA, mode: "refuse", description: 'An order: "big" or small' });
  await rest("PUT", "/event-types/shop%2Fkept", { retention: "90d" });
  await rest("PUT", "/event-types/shop%2Fbranch", { schema: SCHEMA }, "branch");
  const webhook = await rest("POST", "/webhooks", {
    name: "Stripe",
    transform: TRANSFORM,
    verify: { scheme: "stripe", secrets: ["whsec_aGVsbG8gd29ybGQ="] },
  });
  await rest("POST", "/webhooks", { name: "GitHub", transform: TRANSFORM }, "branch");
  const quietHours = { from: "22:00", to: "06:00" };
  await rest("POST", "/alert-rules", { name: "Failures", kind: "failure_count", threshold: 10, quietHours });
  await rest("POST", "/alert-rules", { name: "Stripe is quiet", kind: "silence", webhook: webhook.id, windowSeconds: 3600 });
  await rest("PUT", "/functions/small-ship/limits", { concurrency: 3, throttle: { limit: 10, period: "60s" } });
  await rest("POST", "/keys", { kind: "api", name: "ci", role: "viewer", environments: ["staging", "branch"] });
  await rest("POST", "/keys", { kind: "api", name: "robot", role: "operator" });
}

function texts({ folder }: WorkingFolder, dir: string): Record<string, string> {
  const files = globSync("**/*.{yaml,json,js}", { cwd: join(folder, dir) }).sort();
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, dir, file), "utf8")]));
}

test("what is exported is what there is: a plan shows nothing, and applied elsewhere it makes the same", async (t) => {
  const { rest, place } = await startWithApp(t);
  await fill(rest);
  const exported = await place.inlet(["export"]);
  assert.equal(exported.code, 0, exported.stderr);
  const files = texts(place, "inlet");
  assert.deepEqual(
    Object.keys(files).filter((file) => file.endsWith(".yaml")),
    ["api-keys.yaml", "environments/branch.yaml", "environments/dev.yaml", "environments/old.yaml", "environments/staging.yaml"],
  );
  assert.match(files["environments/staging.yaml"] ?? "", /^# yaml-language-server: \$schema=\.\.\/inlet\.schema\.json\n/);
  assert.doesNotMatch(JSON.stringify(files), /whsec_|evk_|signkey|"ak_/, "no secrets");

  const planned = await place.inlet(["plan", "--prune"]);
  assert.deepEqual([planned.code, planned.stderr], [0, ""], planned.stdout);
  assert.match(planned.stdout, /^No changes: the server matches the folder \(13 unchanged\)\.$/m);
  assert.match((await place.inlet(["apply"])).stdout, /^0 created, 0 changed, 0 deleted, 13 unchanged\.$/m);
  assert.equal((await place.inlet(["export"])).code, 0, "a second export finds its own files");

  const other = await startWithApp(t);
  const variables = { INLET_BASE_URL: other.url, STRIPE_SECRET: "whsec_aGVsbG8gd29ybGQ=" };
  const copy = workingFolder(t, variables);
  for (const [file, text] of Object.entries(files)) copy.write(join("inlet", file), text);
  const refused = await copy.inlet(["apply"]);
  assert.deepEqual([refused.code, refused.stdout], [1, ""]);
  assert.match(refused.stderr, /environments\/old\.yaml:3:3: "old" is created with an event key and a signing key.*--keys-to/);
  assert.equal((await other.rest("GET", "/environments")).length, 1, "nothing was sent");

  const applied = await copy.inlet(["apply", "--keys-to", "new-keys.json"]);
  assert.equal(applied.code, 0, applied.stderr + applied.stdout);
  assert.match(applied.stdout, /^12 created, 0 changed, 0 deleted, 1 unchanged\.$/m);
  assert.doesNotMatch(applied.stdout, /evk_|signkey|ak_/);
  assert.equal(statSync(join(copy.folder, "new-keys.json")).mode & 0o777, 0o600);
  const keys = copy
    .read("new-keys.json")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    keys.map(({ kind, name, environment }) => [kind, name, environment]),
    [
      ["event", "first key", "old"],
      ["signing", "first key", "old"],
      ["event", "first key", "staging"],
      ["signing", "first key", "staging"],
      ["api", "ci", null],
      ["api", "robot", null],
    ],
  );
  assert.equal((await copy.inlet(["plan", "--prune"])).code, 0);
  assert.match((await copy.inlet(["apply"])).stdout, /^0 created, 0 changed, 0 deleted, 13 unchanged\.$/m);
  assert.equal((await copy.inlet(["export", "--dir", "again"])).code, 0);
  const again = texts(copy, "again");
  for (const file of Object.keys(files).filter((name) => name.endsWith(".yaml"))) assert.equal(again[file], files[file], file);
});

test("changes and drift are shown field by field; only what the files speak of is touched, and deleted only when asked", async (t) => {
  const { rest, place } = await startWithApp(t);
  await fill(rest);
  place.write(
    "inlet/all.yaml",
    `environments:
  dev:
    eventTypes:
      shop/order.created: { schema: { type: object }, mode: refuse, description: 'An order: "big" or small' }
    alertRules:
      Failures: { kind: failure_count, threshold: 20, quietHours: { from: "22:00", to: "06:00", timeZone: UTC } }
    functions:
      small-bill: { rateLimit: { limit: 5, period: 1m } }
  staging:
    retention: { events: 30d }
`,
  );
  place.write(
    "inlet/keys.json",
    '{\n\t"$schema": "./inlet.schema.json",\n\t"apiKeys": {\n\t\t"ci": { "role": "operator", "environments": ["branch", "staging"] }\n\t}\n}\n',
  );
  const planned = await place.inlet(["plan"]);
  assert.equal(planned.code, 2, planned.stderr);
  assert.match(planned.stdout, /^~ change environment staging\n {4}retention: .*"requests":"36h"\} -> .*"requests":null\}$/m);
  assert.match(planned.stdout, /^~ change event type "shop\/order\.created" in dev\n {4}schema:\n(.*\n)+? {6}- .*"orderId"/m);
  assert.match(planned.stdout, /^~ change alert rule "Failures" in dev\n {4}threshold: 10 -> 20$/m);
  assert.match(planned.stdout, /^\+ create function "small-bill" in dev\n {4}rateLimit: \{"limit":5,"period":"1m"\}$/m);
  assert.match(planned.stdout, /^~ change API key "ci"\n {4}role: "viewer" -> "operator"$/m);
  assert.match(planned.stdout, /^1 to create, 4 to change, 0 to delete, 1 unchanged\.$/m);
  assert.match(
    planned.stdout,
    /^Only on the server \(use --prune to delete\): event type "shop\/kept" in dev, alert rule "Stripe is quiet" in dev, /m,
  );

  assert.equal((await place.inlet(["apply"])).code, 0);
  assert.equal((await place.inlet(["plan"])).code, 0);
  assert.equal((await rest("GET", "/environments/staging")).bodyLimitBytes, 1_000_000, "left alone");
  const quotasNow = async () => (await rest("GET", "/environments/staging")).quotas;
  assert.deepEqual([(await quotasNow()).eventsPerDay, (await quotasNow()).storedBytes], [1000, 1_000_000], "left alone");
  place.edit("inlet/keys.json", { environments: { staging: { quotas: { eventsPerDay: 2000, callsAtOnce: 4 } } } });
  assert.match((await place.inlet(["apply"])).stdout, /^~ changed environment staging\n {4}quotas: .*"eventsPerDay":1000/m);
  const { eventsPerDay, storedBytes, callsAtOnce } = await quotasNow();
  assert.deepEqual([eventsPerDay, storedBytes, callsAtOnce], [2000, null, 4], "a setting is described whole");
  assert.equal((await rest("GET", "/functions/small-ship")).limits.concurrency, 3, "left alone");
  const names = async (path: string) => (await rest("GET", path)).map(({ name }: { name: string }) => name).sort();
  assert.deepEqual(await names("/alert-rules"), ["Failures", "Stripe is quiet"]);

  await rest("PUT", `/alert-rules/${(await rest("GET", "/alert-rules")).find(({ name }: { name: string }) => name === "Failures").id}`, {
    enabled: false,
  });
  const drift = JSON.parse((await place.inlet(["plan", "--json"])).stdout);
  assert.deepEqual(drift.changes, [
    {
      action: "change",
      kind: "alert rule",
      environment: "dev",
      name: "Failures",
      fields: [{ field: "enabled", onServer: false, inFolder: true }],
    },
  ]);

  const pruned = await place.inlet(["apply", "--prune"]);
  assert.equal(pruned.code, 0, pruned.stderr + pruned.stdout);
  assert.match(pruned.stdout, /^0 created, 1 changed, 4 deleted, 5 unchanged\.$/m);
  assert.deepEqual(await names("/alert-rules"), ["Failures"]);
  assert.deepEqual(await names("/webhooks"), ["Stripe"], "no folder speaks of webhooks");
  assert.equal((await rest("GET", "/functions/small-ship")).limits.concurrency, null);
  assert.deepEqual(await names("/keys?kind=api"), ["ci"]);
  assert.deepEqual((await rest("GET", "/event-schemas", undefined, "branch")).length, 1);
  assert.equal((await place.inlet(["plan", "--prune"])).code, 0);

  place.write("empty/.keep", "");
  const empty = await place.inlet(["apply", "--prune", "--dir", "empty"]);
  assert.deepEqual([empty.code, /describes nothing/.test(empty.stderr)], [1, true]);
  const second = await place.inlet(["export"]);
  assert.deepEqual([second.code, /would describe objects a second time/.test(second.stderr)], [1, true]);
});

test("the webhook of an alert rule may be given by its id: a second apply changes nothing", async (t) => {
  const { rest, variables } = await startServer(t);
  const place = workingFolder(t, variables);
  const stripe = await rest("POST", "/webhooks", { name: "Stripe", transform: TRANSFORM });
  const pay = await rest("POST", "/webhooks", { name: "Pay", transform: TRANSFORM });
  const describe = (webhook: string) =>
    place.write(
      "inlet/inlet.yaml",
      `environments:\n  production:\n    alertRules:\n      Quiet: { kind: silence, windowSeconds: 3600, webhook: ${webhook} }\n`,
    );
  const webhookNow = async () => (await rest("GET", "/alert-rules"))[0].webhook;
  for (const [given, id] of [
    [stripe.id, stripe.id],
    ["Pay", pay.id],
    ["Stripe", stripe.id],
    [pay.id, pay.id],
  ]) {
    describe(given);
    assert.equal((await place.inlet(["plan"])).code, 2, "something is to be done");
    assert.equal((await place.inlet(["apply"])).code, 0);
    assert.equal(await webhookNow(), id);
    const again = await place.inlet(["plan"]);
    assert.equal(again.code, 0, `${given}: ${again.stdout}${again.stderr}`);
  }
  describe("Pay");
  assert.equal((await place.inlet(["plan"])).code, 0, "the same webhook, by its name");
});

test("an apply that is killed is run again, and what was done is not done twice", async (t) => {
  const { url, rest } = await startServer(t);
  const proxy = await unsteadyProxy(t, url);
  const place = workingFolder(t, { INLET_BASE_URL: proxy.url, INLET_API_KEY: "ak_test" });
  const rules = Array.from({ length: 8 }, (_, n) => `      rule ${n}: { kind: failure_count, threshold: ${n + 1} }\n`).join("");
  const types = "    eventTypes:\n      a/b: { mode: warn, schema: {} }\n";
  place.write("inlet/a.yaml", `environments:\n  teams:\n    retention: { runs: 7d }\n    alertRules:\n${rules}${types}`);
  const argv = ["apply", "--keys-to", "keys.json"];

  const atFirst = proxy.hold(/\/event-types\//);
  const first = place.start(...argv);
  await until("the event type is asked for", async () => atFirst.waiting() === 1 || undefined);
  await first.end("SIGKILL");
  atFirst.letGo();
  assert.equal((await rest("GET", "/environments/teams")).retention.runs, "7d", "what came before it is there");
  assert.equal(place.read("keys.json").trim().split("\n").length, 2, "and its keys are kept");

  const atRules = proxy.hold(/\/alert-rules$/);
  const second = place.start(...argv);
  await until("a rule is asked for", async () => atRules.waiting() === 1 || undefined);
  await second.end("SIGKILL");
  atRules.letGo();

  const last = await place.inlet(argv);
  assert.equal(last.code, 0, last.stderr + last.stdout);
  assert.equal((await rest("GET", "/alert-rules?limit=100", undefined, "teams")).length, 8);
  assert.equal((await place.inlet(["plan", "--prune"])).code, 0);
  assert.equal(place.read("keys.json").trim().split("\n").length, 2);
});

test("keys that are printed are shown as soon as they are made: no later refusal hides them, and JSON stays one document", async (t) => {
  const { url, variables } = await startServer(t);
  const proxy = await unsteadyProxy(t, url);
  const place = workingFolder(t, { ...variables, INLET_BASE_URL: proxy.url });
  place.write("inlet/a.yaml", "environments:\n  teams:\n    quotas: { eventsPerDay: 1000 }\n");
  const settings = proxy.hold(/\/environments\/teams$/);
  const applying = place.inlet(["apply", "--keys-to", "-"]);
  await until("the quotas are set", async () => settings.waiting() === 1 || undefined);
  proxy.next.push("turned away");
  settings.letGo();
  const refused = await applying;
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /^event key "first key" of teams: \S+\nsigning key "first key" of teams: signkey-\S+\nfailed: /);

  place.write("inlet/keys.yaml", "apiKeys:\n  deploy: { role: operator }\n");
  const applied = await place.inlet(["apply", "--keys-to", "-", "--json"]);
  assert.equal(applied.code, 0, applied.stderr);
  assert.equal(JSON.parse(applied.stdout).applied.length, 2, "the quotas and the API key");
  assert.match(applied.stderr, /^api key "deploy": ak_\S+\n$/);
});

test("an environment's admin plans and applies the part of their environments, and nothing else", async (t) => {
  const { url, rest, variables } = await startServer(t);
  for (const name of ["payments", "payments-eu", "shop"]) await rest("POST", "/environments", { name });
  const { key } = await rest("POST", "/keys", {
    kind: "api",
    name: "payments admin",
    role: "admin",
    environments: ["payments", "payments-*"],
  });
  const place = workingFolder(t, { INLET_BASE_URL: url, INLET_API_KEY: key });
  const part = (name: string) => `  ${name}:\n    alertRules:\n      Failures: { kind: failure_count, threshold: 5 }\n`;
  place.write("inlet/environments.yaml", `environments:\n${part("payments")}${part("payments-eu")}${part("shop")}`);
  place.write("inlet/keys.yaml", "apiKeys:\n  deploy: { role: operator, environments: [payments] }\n  root: { role: viewer }\n");
  place.write("inlet/webhooks/in/webhook.json", JSON.stringify({ name: "In", environment: "payments" }));
  place.write("inlet/webhooks/in/transform.js", TRANSFORM);

  const whole = await place.inlet(["plan"]);
  assert.equal(whole.code, 1);
  assert.match(
    whole.stderr,
    /environments\.yaml:8:3: "shop" is out of reach: this API key is restricted to payments, payments-\*; use --env/,
  );
  assert.match(whole.stderr, /keys\.yaml:3:3: "root" is out of reach/);

  const argv = ["--env", "payments", "--env", "payments-*", "--prune"];
  const planned = await place.inlet(["plan", ...argv]);
  assert.equal(planned.code, 2, planned.stderr);
  assert.match(planned.stdout, /^4 to create, 0 to change, 0 to delete, 2 unchanged\.$/m, "not the key that it is done with");
  const applied = await place.inlet(["apply", ...argv, "--keys-to", "-"]);
  assert.equal(applied.code, 0, applied.stderr + applied.stdout);
  assert.match(applied.stdout, /^api key "deploy": ak_\S+$/m);
  assert.equal((await place.inlet(["plan", ...argv])).code, 0);
  assert.deepEqual(await rest("GET", "/alert-rules", undefined, "shop"), []);

  place.write("inlet/environments.yaml", `environments:\n${part("payments")}    retention: { events: 1d }\n`);
  const more = await place.inlet(["apply", "--env", "payments"]);
  assert.equal(more.code, 1);
  assert.match(more.stdout, /failed: inlet\/environments\.yaml:2:3: .*whole installation.*\(environment_forbidden\)/);
  assert.match(more.stdout, /, 1 not applied\.$/m);

  const exported = await place.inlet(["export", "--dir", "own"]);
  assert.equal(exported.code, 0, exported.stderr);
  assert.deepEqual(
    Object.keys(texts(place, "own")).filter((file) => file.endsWith(".yaml")),
    ["api-keys.yaml", "environments/payments-eu.yaml", "environments/payments.yaml"],
  );
  assert.equal((await place.inlet(["plan", "--dir", "own", "--prune"])).code, 0);

  const whoever = workingFolder(t, variables);
  whoever.write("inlet/keys.yaml", "apiKeys:\n  payments admin: { role: viewer, environments: [payments] }\n");
  const all = await whoever.inlet(["apply", "--prune"]);
  assert.equal(all.code, 0, all.stderr + all.stdout);
  assert.match(all.stdout, /^0 created, 1 changed, 1 deleted/m, "the key in use is kept");
  assert.equal((await place.inlet(["apply", "--dir", "own"])).code, 1, "which holds at once");
});

test("a viewer exports and plans; what cannot be told apart is left out, and what cannot be set yet says why", async (t) => {
  const { url, rest, variables } = await startServer(t);
  for (const role of ["viewer", "operator"]) await rest("POST", "/keys", { kind: "api", name: "twice", role });
  const { key } = await rest("POST", "/keys", { kind: "api", name: "looks", role: "viewer" });
  const place = workingFolder(t, { INLET_BASE_URL: url, INLET_API_KEY: key });
  const exported = await place.inlet(["export"]);
  assert.equal(exported.code, 0, exported.stderr);
  assert.match(exported.stderr, /^warning: 2 objects of the kind API key are named "twice" and differ: they are left out; rename one$/m);
  const planned = await place.inlet(["plan"]);
  assert.deepEqual([planned.code, /API key "twice", API key "twice"/.test(planned.stdout)], [0, true], planned.stderr);
  const limits = "environments:\n  production:\n    functions:\n      shop-none: { concurrency: 1 }\n";
  place.write("limits/a.yaml", limits);
  const denied = await place.inlet(["apply", "--dir", "limits"]);
  assert.deepEqual([denied.code, /role_forbidden/.test(denied.stdout)], [1, true]);

  const admin = workingFolder(t, variables);
  admin.write("inlet/a.yaml", limits);
  const early = await admin.inlet(["apply"]);
  assert.equal(early.code, 1);
  assert.match(early.stdout, /^failed: inlet\/a\.yaml:4:7: There is no function shop-none.*\(function_not_found\)$/m);
  admin.write("inlet/a.yaml", "apiKeys:\n  twice: { role: metrics }\n");
  assert.match((await admin.inlet(["apply"])).stdout, /^0 created, 2 changed, 0 deleted, 0 unchanged\.$/m, "it holds for both");
  admin.write("inlet/a.yaml", "environments:\n  staging: { kind: branch }\n  production: { kind: custom, database: eu }\n");
  const wrong = await admin.inlet(["plan"]);
  assert.deepEqual(
    [wrong.code, /a\.yaml:3:3: "production" is a default environment; its kind cannot be changed/.test(wrong.stderr)],
    [1, true],
  );
  assert.match(wrong.stderr, /"production" is on the database directory; to move it, run "inlet env move production --to eu"/);
});

testOnce("the format has every field that REST takes, and no other", async (t) => {
  // biome-ignore lint/suspicious/noExplicitAny: the document is as deep as it is
  const { paths, components } = (await (await fetch(`${await startDev(t)}/v1/openapi.json`)).json()) as any;
  const resolve = (schema: { $ref?: string; properties?: object }): { properties?: object } =>
    schema.$ref === undefined ? schema : components.schemas[schema.$ref.split("/").at(-1) as string];
  const fields = (route: string) => {
    const [method = "", path = ""] = route.split(" ");
    const body = resolve(paths[path][method].requestBody.content["application/json"].schema);
    return Object.keys(body.properties ?? {}).sort();
  };
  const without = (names: string[], ...left: string[]) => names.filter((name) => !left.includes(name));
  const known = ({ properties }: { properties: object }) => Object.keys(properties).sort();
  const settings = fields("put /v1/environments/{name}");
  assert.deepEqual([...settings, "archived", "database", "kind"].sort(), known({ properties: ENVIRONMENT_SETTINGS }));
  const { properties } = paths["/v1/environments/{name}"].put.requestBody.content["application/json"].schema;
  for (const setting of ["retention", "quotas"] as const)
    assert.deepEqual(Object.keys(resolve(properties[setting]).properties ?? {}).sort(), known(ENVIRONMENT_SETTINGS[setting]));
  assert.deepEqual(known(EVENT_TYPE), fields("put /v1/event-types/{name}"));
  assert.deepEqual(known(ALERT_RULE), without(fields("post /v1/alert-rules"), "name"));
  assert.deepEqual(known(FUNCTION_LIMITS), fields("put /v1/functions/{id}/limits"));
  assert.deepEqual(known(API_KEY), without(fields("put /v1/keys/{id}"), "name", "eventNames", "ips"));
});

testOnce("the files, the workflow and the exit codes of the guide", async (t) => {
  const guide = readGuide("how-to/everything-as-files.md");
  const place = workingFolder(t, (await startServer(t)).variables);
  const files = guide.blocks("yaml").map((text) => [/^# (\S+\.ya?ml)$/m.exec(text)?.[1] ?? "", text] as const);
  assert.deepEqual(
    files.map(([file]) => file),
    ["inlet/environments/payments.yaml", "inlet/api-keys.yaml", ".github/workflows/inlet.yml"],
  );
  for (const [file, text] of files) place.write(file, text);
  const planned = await place.inlet(["plan"]);
  assert.equal(planned.code, 2, planned.stderr);
  assert.match(planned.stdout, /^7 to create, 0 to change, 0 to delete, 0 unchanged\.$/m);
  const { jobs, concurrency } = parse(files[2]?.[1] ?? "");
  const steps = jobs.inlet.steps.flatMap(({ run }: { run?: string }) => run ?? []);
  assert.deepEqual(
    [concurrency, steps],
    ["inlet", ["npm ci", "npx @inlet/cli plan --prune || test $? -eq 2", "npx @inlet/cli apply --prune", "npx @inlet/cli plan --prune"]],
  );
  for (const { words, exits = [] } of FILES_ROWS) {
    const [, head = "", rows = ""] = /^\| exit code \|(.*)\|\n.*\n((?:\| \d .*\n)+)/m.exec(guide.text) ?? [];
    const column = head.split("|").findIndex((cell) => cell.trim() === `\`${words[0]}\``);
    const told = rows
      .trim()
      .split("\n")
      .flatMap((row, code) => (row.split("|")[column + 2]?.trim() ? [code] : []));
    assert.deepEqual(
      told,
      exits.map(([code]) => code),
      words[0],
    );
  }
});
