/**
 * Every route that a service documents, and every other door of it, asked by everybody who might: with any body, path, query and header,
 * in one's own environment and in others. No request is answered with 500 or stops the service, and whoever is restricted to `staging` is
 * told nothing of `production`. Seeded; on dev servers and on others, on both engines.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { attackInRounds, attackPlan, attackTimeoutMs, type Random } from "./support/attacks/attack-plan.ts";
import { type HostileBody, hostileBody } from "./support/attacks/hostile-bodies.ts";
import { HOSTILE_TEXTS } from "./support/attacks/hostile-values.ts";
import { type Operation, operationsOf } from "./support/attacks/rest-operations.ts";
import { test } from "./support/both-stores.ts";
import { makeEnvironmentScene } from "./support/environment-scene.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook, post } from "./support/webhooks.ts";

/** In `npm test`, each route is asked so many times by each kind of service. */
const TURNS = 3;
const AT_ONCE = 4;
/** Found in everything that `production` holds. */
const MARK = "mark-of-production";
/** What is not the service's own fault. */
const FAULTS_OF_OTHERS = new Set([
  "app_unreachable",
  "database_unreachable",
  "connect_unsupported",
  "sdk_feature_unsupported",
  "databases_unsupported",
]);

/** Doors that the document does not describe: senders, apps, subscribers, people with a link, agents, readers. */
const OTHER_DOORS: readonly (readonly [method: string, path: string])[] = [
  ["POST", `/e/${EVENT_KEY}`],
  ["POST", "/e/{hook}"],
  ["POST", "/e/{any}"],
  ["POST", "/fn/register"],
  ["GET", "/v0/runs/{runs}/batch"],
  ["GET", "/v0/runs/{runs}/actions"],
  ["POST", "/v0/connect/start"],
  ["POST", "/v1/checkpoint/{runs}/async"],
  ["POST", "/v1/http/runs/{runs}/async"],
  ["POST", "/v1/realtime/token"],
  ["POST", "/v1/realtime/publish?channel={any}&topic={any}&run_id={runs}"],
  ["GET", "/v1/realtime/sse?token={any}&after={any}"],
  ["POST", "/v1/cancellations"],
  ["GET", "/v1/cancellations"],
  ["DELETE", "/v1/cancellations/{any}"],
  ["DELETE", "/v1/runs/{runs}"],
  ["GET", "/v1/runs/{runs}/jobs"],
  ["GET", "/v1/apps/{any}/functions"],
  ["GET", "/v2/apps/{any}/functions/{functions}"],
  ["POST", "/v2/apps/{any}/functions/{functions}/invoke"],
  ["POST", "/mcp"],
  ["GET", "/approve/{approvals}/{any}"],
  ["POST", "/approve/{approvals}/{any}"],
  ["GET", "/docs/{any}"],
  ["GET", "/docs/search?q={any}"],
  ["GET", "/llms.txt"],
  ["GET", "/metrics"],
  ["GET", "/oidc/callback?code={any}&state={any}"],
  ["GET", "/oidc/sign-in?to={any}"],
  ["GET", "/login?token={any}"],
  ["GET", "/{any}"],
];
const EXAMPLES: Readonly<Record<string, readonly object[]>> = {
  "POST /fn/register": [
    {
      url: "http://127.0.0.1:1/api",
      appName: "other",
      sdk: "js:v3",
      framework: "node",
      v: "0.1",
      deployType: "ping",
      functions: [
        {
          id: "other-f",
          name: "f",
          triggers: [{ event: "shop/a", expression: "event.data.a == 1" }],
          concurrency: [{ limit: 1 }],
          steps: { step: { id: "step", name: "step", runtime: { type: "http", url: "http://127.0.0.1:1/api?fnId=other-f&stepId=step" } } },
        },
      ],
    },
  ],
  "POST /v1/checkpoint/{runs}/async": [{ run_id: "r", qi_id: "q", steps: [{ op: "StepRun", id: "s", name: "s", data: 1 }] }],
  "POST /mcp": [
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "runs_read", arguments: { id: "x", environment: "production" } } },
    { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "inlet://docs/../../package.json" } },
  ],
  "POST /v1/realtime/token": [[{ channel: "c", name: "t" }]],
  "POST /v1/cancellations": [{ app_id: "shop", function_id: "wait", started_before: "2026-01-01T00:00:00Z" }],
};

interface Caller {
  name: string;
  headers: Record<string, string>;
  /** It may see nothing of production. */
  isRestricted: boolean;
  /** Its key is one of an app, which REST counts as a wrong one. */
  isApp?: boolean;
}

/** Every kind of role and key, in `staging` only; those of everybody; and none. */
async function makeCallers(service: TestService): Promise<Caller[]> {
  const made = async (body: object): Promise<string> =>
    (await service.rest("POST", "/keys", { body: { name: "k", ...body } })).body.data.key;
  const caller = (name: string, key: string | null, isRestricted = true): Caller => ({
    name,
    isRestricted,
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  });
  const all = caller("admin of all", API_KEY, false);
  const callers = [all, all, all, caller("nobody", null), { ...caller("app of all", SIGNING_KEY, false), isApp: true }];
  for (const role of ["admin", "operator", "viewer", "ingest-admin", "metrics"])
    callers.push(caller(`${role} of staging`, await made({ kind: "api", role, environments: ["staging"] })));
  callers.push({ ...caller("app of staging", await made({ kind: "signing", environment: "staging" })), isApp: true });
  // A key that was used before is not refused because of the wrong ones that are tried here.
  for (const { headers } of callers) await call(`${service.url}/v1/session`, { headers });
  return callers;
}

const latin1 = (text: string) => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 2_000);

function headersOf(random: Random): Record<string, string> {
  const some = (share: number, name: string, value: () => string): [string, string][] => (random.next() < share ? [[name, value()]] : []);
  const hostile = () => latin1(random.pick(HOSTILE_TEXTS));
  return Object.fromEntries([
    ...some(0.7, "x-service-env", () =>
      random.pick(["staging", "staging", "staging", "production", "branch", "pr-1", "nowhere", hostile()]),
    ),
    ...some(0.1, "idempotency-key", hostile),
    ...some(0.1, "last-event-id", hostile),
    ...some(0.1, "x-inngest-sdk", () => random.pick(["inngest-js:v3.0.0", hostile()])),
    ...some(0.1, "x-inngest-event-id-seed", hostile),
    ...some(0.1, "accept", () => random.pick(["text/csv", "text/event-stream", "application/json, text/event-stream", hostile()])),
    ...some(0.9, "content-type", () => random.pick(["application/json", "application/json", "application/json", "text/plain", hostile()])),
  ]);
}

function pathOf(random: Random, { path, query }: Operation, ids: Readonly<Record<string, string>>): string {
  const [, , resource = ""] = path.split("/");
  const target = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const own = ids[name] ?? (name === "any" ? undefined : ids[resource]);
    const text = own !== undefined && random.next() < 0.7 ? own : random.pick(HOSTILE_TEXTS);
    return encodeURIComponent(text.toWellFormed()) || "x";
  });
  const chosen = query.filter(() => random.next() < 0.3).map(({ name }): [string, string] => [name, random.pick(HOSTILE_TEXTS)]);
  const whole = chosen.length === 0 ? target : `${target}?${new URLSearchParams(chosen)}`;
  const [, again] = whole.split("?");
  return again !== undefined && random.next() < 0.3 ? `${whole}&${again}` : whole;
}

const ENDLESS = /\/stream|\/sse/;

/** null: the connection was closed before the answer was read, as for a body that nobody is going to read. */
async function asked(url: string, init: RequestInit): Promise<{ status: number; text: string } | null> {
  const controller = new AbortController();
  try {
    const response = await fetch(url, { ...init, redirect: "manual", signal: controller.signal });
    if (!ENDLESS.test(url) || response.status !== 200) return { status: response.status, text: await response.text() };
    controller.abort();
    return { status: response.status, text: "" };
  } catch {
    return null;
  }
}

/** What production holds has the mark in it, wherever a text can stand. */
async function markProduction(service: TestService): Promise<string> {
  const hook = await makeWebhook(service, ECHO, { name: MARK });
  await post(hook.url, { [MARK]: 1 });
  await service.send({ name: "shop/a", id: MARK, data: { [MARK]: MARK } });
  const rest = (method: string, path: string, body: object) => service.rest(method, path, { body });
  for (const answer of [
    await rest("POST", "/alert-rules", { name: MARK, kind: "failure_count", threshold: 1 }),
    await rest("POST", "/approvals", { signal: MARK, prompt: MARK, timeout: "1d", data: { [MARK]: 1 } }),
    await rest("POST", "/keys", { kind: "event", name: MARK }),
    await rest("PUT", "/event-types/shop%2Fmarked", { schema: { description: MARK } }),
    await rest("PUT", "/saved-filters", { list: "events", name: MARK, search: { name: "shop/a" } }),
  ])
    assert.ok(answer.status < 300, answer.text);
  return hook.url;
}

async function attack(t: TestContext, service: TestService, isDev: boolean): Promise<void> {
  const { ids, bodies } = isDev ? { ids: {} as Record<string, string>, bodies: {} } : await makeEnvironmentScene(t, service);
  if (!isDev) await markProduction(service);
  else await service.rest("POST", "/environments", { body: { name: "staging" } });
  await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
  const hook = await makeWebhook(service, ECHO, { environment: "staging" });
  const known = { ...ids, hook: new URL(hook.url).pathname.split("/")[2] as string };
  const callers: Caller[] = isDev ? [{ name: "anyone", headers: {}, isRestricted: false }] : await makeCallers(service);
  const documented = (await operationsOf(service)).filter(({ path }) => !path.endsWith("archive"));
  const doors: Operation[] = [...documented, ...OTHER_DOORS.map(([method, path]) => ({ method, path, query: [], body: null }))];
  const examples = new Map<string, readonly object[]>([
    ...Object.entries(EXAMPLES),
    ...Object.entries(bodies).map(([route, given]): [string, readonly object[]] => [route.replace(" ", " /v1"), given]),
  ]);
  const ask = async (random: Random, door: Operation) => {
    const caller = random.pick(documented.includes(door) ? callers.filter(({ isApp }) => !isApp) : callers);
    const path = pathOf(random, door, known);
    const accepted = examples.get(`${door.method} ${door.path}`);
    const body: HostileBody | null = door.method === "GET" ? null : hostileBody(random, door.body, accepted && random.pick(accepted));
    const headers = { ...headersOf(random), ...caller.headers };
    const answer = await asked(`${service.url}${path}`, { method: door.method, headers, ...(body !== null && { body: body as string }) });
    const says = () =>
      `${caller.name}: ${door.method} ${path.slice(0, 300)} ${JSON.stringify(headers)} ${String(body).slice(0, 500)}: ${answer?.status} ${answer?.text.slice(0, 500)}`;
    if (answer === null) return assert.equal((await call(`${service.url}/health`)).status, 200, says());
    const code = answer.status < 500 ? null : JSON.parse(answer.text).code;
    assert.ok(code === null || FAULTS_OF_OTHERS.has(code), says());
    if (caller.isRestricted) assert.ok(!answer.text.includes(MARK), says());
  };
  const rounds = Math.ceil((doors.length * TURNS) / AT_ONCE);
  await attackInRounds(attackPlan(rounds), async (random, round) => {
    const chosen = Array.from({ length: AT_ONCE }, (_, n) => doors[(round * AT_ONCE + n) % doors.length] as Operation);
    await Promise.all(chosen.map((door) => ask(random, door)));
  });
  assert.equal((await call(`${service.url}/health`)).status, 200);
}

test("whoever asks, whatever is sent, no service fails and none tells of another environment", {
  timeout: attackTimeoutMs(),
}, async (t) => {
  await attack(t, await startTestService(t), false);
});

test("a dev server fails as little", { timeout: attackTimeoutMs() }, async (t) => {
  await attack(t, await startTestService(t, { mode: "dev" }), true);
});
