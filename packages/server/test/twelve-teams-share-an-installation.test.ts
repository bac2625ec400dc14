/**
 * Twelve teams share one installation, on PostgreSQL with two nodes. Each has an environment with keys, an app, a webhook and quotas of its
 * own. One floods, one fails all its runs, and the admin of one looks for the others' things. The work of the others is accepted and done,
 * each once, and nothing of it is seen elsewhere.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startApp } from "./support/app.ts";
import { operationsOf } from "./support/attacks/rest-operations.ts";
import { awayFromMidnight } from "./support/away-from-midnight.ts";
import { type StoreKind, test } from "./support/both-stores.ts";
import { migratedDatabase } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { type ServiceClient, startTestService, type TestService } from "./support/service.ts";
import { makeKeyed } from "./support/signing-scene.ts";
import { post } from "./support/webhooks.ts";

const TEAMS = 12;
const EVENTS = 10;
const FLOOD_PER_DAY = 300;
const FLOOD_BATCH = 5;
const REFUSED_OFTEN = 200;
const FLOOD_PAUSE_MS = 50;
/** On several nodes, a quota is kept within a tenth. */
const FLOOD_MAX = FLOOD_PER_DAY * 1.1;
const TRANSFORM = "transform = (evt) => ({ name: 'team/hooked', data: evt })";

interface Team {
  name: string;
  eventKey: string;
  /** Calls REST as the admin of the team's environment, at one of the nodes. */
  rest(method: string, path: string, options?: { body?: unknown; env?: string }): ReturnType<ServiceClient["rest"]>;
  webhook: { id: string; url: string };
  /** What its functions were given. */
  done: string[];
}

async function startNodes(t: TestContext, engine: StoreKind): Promise<[TestService, ...TestService[]]> {
  if (engine === "sqlite") return [await startTestService(t)];
  const databaseUrl = await migratedDatabase(t);
  return [await startTestService(t, { databaseUrl }), await startTestService(t, { databaseUrl })];
}

async function makeTeam(t: TestContext, [first, ...others]: readonly [TestService, ...TestService[]], n: number): Promise<Team> {
  const name = `team-${n}`;
  const keys = await makeKeyed(first, name);
  const admin = await first.rest("POST", "/keys", { body: { kind: "api", name, role: "admin", environments: [name] } });
  const nodes = [first, ...others];
  let calls = 0;
  const rest: Team["rest"] = (method, path, { body, env = name } = {}) =>
    (nodes[calls++ % nodes.length] as TestService).rest(method, path, {
      headers: { authorization: `Bearer ${admin.body.data.key}`, "x-service-env": env },
      ...(body !== undefined && { body }),
    });
  await first.rest("PUT", `/environments/${name}`, { body: { quotas: { eventsPerDay: n === 0 ? FLOOD_PER_DAY : 100_000 } } });
  const done: string[] = [];
  const run = ({ event }: { event: { data: Record<string, unknown> } }) => {
    if (n === 1) throw new Error("every run of this team fails");
    done.push(String(event.data.text));
  };
  await startApp(
    t,
    first,
    (client) => ["team/work", "team/hooked"].map((event) => client.createFunction({ id: event.slice(5), retries: 0 }, { event }, run)),
    { id: name, environment: name, signingKey: keys.signing },
  );
  const created = await until("the key on every node", async () => {
    const made = await rest("POST", "/webhooks", { body: { name, transform: TRANSFORM, environment: name } });
    return made.status === 201 ? made.body.data : undefined;
  });
  return { name, eventKey: keys.event, rest, webhook: created, done };
}

/** Sends until it is told to stop. Everything beyond the quota is refused. Once it was refused often, it leaves some of the processor to the others. */
async function flood(nodes: readonly TestService[], { eventKey }: Team, isOver: () => boolean): Promise<Record<number, number>> {
  const answers: Record<number, number> = {};
  const events = Array.from({ length: FLOOD_BATCH }, (_, n) => ({ name: "team/flood", data: { n } }));
  for (let n = 0; !isOver() || (answers[429] ?? 0) < 10; n++) {
    const { status } = await (nodes[n % nodes.length] as TestService).send(events, { key: eventKey });
    answers[status] = (answers[status] ?? 0) + 1;
    if ((answers[429] ?? 0) > REFUSED_OFTEN) await sleep(FLOOD_PAUSE_MS);
  }
  return answers;
}

/** The events and requests of a team, all of them accepted. */
async function work(nodes: readonly TestService[], { name, eventKey, webhook }: Team): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < EVENTS; n++) {
    const { status, text, body } = await (nodes[n % nodes.length] as TestService).send(
      { name: "team/work", data: { text: `secret ${n} of ${name}` } },
      { key: eventKey },
    );
    assert.equal(status, 200, text);
    ids.push(body.ids[0]);
  }
  const posted = await post(webhook.url, { text: `secret hook of ${name}` });
  assert.equal(posted.status, 200, posted.text);
  return ids;
}

/** Everything that the admin of a team can ask about the others. */
async function spy(node: TestService, { rest, name }: Team, others: readonly Team[], ids: readonly string[]): Promise<void> {
  const seen = new RegExp(others.flatMap((team) => [`of ${team.name}"`, `"${team.name}"`, team.webhook.id]).join("|"));
  const lists = [
    "events",
    "runs",
    "webhooks",
    "apps",
    "functions",
    "environments",
    "keys",
    "audit-log",
    "failures",
    "usage",
    "event-types",
    "jobs",
  ];
  for (const list of lists) {
    const { status, text } = await rest("GET", `/${list}`);
    assert.equal(status, 200, `${list}: ${text}`);
    assert.doesNotMatch(text, seen, list);
  }
  // Every route that reads, aimed at something of another team: none of it is in the answer, which may repeat the id that was asked for.
  const target: Readonly<Record<string, string | undefined>> = { webhooks: others[0]?.webhook.id, environments: others[0]?.name };
  for (const { method, path } of await operationsOf(node)) {
    const id = target[path.split("/")[2] ?? ""] ?? ids[0] ?? "";
    const to = path.slice("/v1".length).replaceAll(/\{\w+\}/g, id);
    if (method !== "GET" || path.endsWith("/stream")) continue;
    const { status, text } = await rest("GET", to);
    assert.ok([200, 400, 403, 404].includes(status), `${path}: ${status} ${text}`);
    assert.ok(!seen.test(text) || (status !== 200 && path.includes("{")), `${path}: ${status} ${text}`);
  }
  for (const id of ids) {
    for (const path of [`/events/${id}`, `/events/${id}/runs`]) assert.equal((await rest("GET", path)).status, 404, path);
    assert.doesNotMatch((await rest("GET", `/find?id=${id}`)).text, new RegExp(`"${id}"`));
  }
  for (const team of others) {
    for (const [method, path, body] of [
      ["GET", `/webhooks/${team.webhook.id}`, undefined],
      ["PUT", `/webhooks/${team.webhook.id}`, { transform: TRANSFORM }],
      ["DELETE", `/webhooks/${team.webhook.id}`, undefined],
      ["GET", `/environments/${team.name}`, undefined],
    ] as const)
      assert.equal((await rest(method, path, { body })).status, 404, `${method} ${path}`);
    const named = await rest("GET", "/events", { env: team.name });
    assert.deepEqual([named.status, named.body.code], [403, "environment_forbidden"]);
  }
  assert.equal(
    (await rest("PUT", `/environments/${name}`, { body: { quotas: { eventsPerDay: null } } })).status,
    403,
    "quotas are not its own",
  );
}

test("one floods, one fails, one spies: the others' work is done, each once, and seen by nobody", async (t, engine) => {
  await awayFromMidnight();
  const nodes = await startNodes(t, engine);
  const teams: Team[] = [];
  for (let n = 0; n < TEAMS; n++) teams.push(await makeTeam(t, nodes, n));
  const [flooding, failing, spying, ...others] = teams as [Team, Team, Team, ...Team[]];
  let isOver = false;
  const flooded = flood(nodes, flooding, () => isOver);
  const [ids] = await Promise.all([Promise.all([failing, spying, ...others].map((team) => work(nodes, team)))]);
  await spy(
    nodes[0],
    spying,
    teams.filter((team) => team !== spying),
    ids.flatMap((one, index) => (index === 1 ? [] : one.slice(0, 1))),
  );
  for (const { name, done } of [spying, ...others]) {
    await until(`the runs of ${name}`, () => (done.length >= EVENTS + 1 ? true : undefined));
    const expected = [...Array.from({ length: EVENTS }, (_, n) => `secret ${n} of ${name}`), `secret hook of ${name}`];
    assert.deepEqual(done.toSorted(), expected.sort(), "each once, and nothing of others");
  }
  isOver = true;
  const { 200: accepted = 0, 429: refused = 0, ...rest } = await flooded;
  assert.deepEqual(rest, {});
  const stored = accepted * FLOOD_BATCH;
  assert.ok(stored <= FLOOD_MAX && stored >= FLOOD_PER_DAY * 0.8 && refused >= 10, `${stored} stored, ${refused} refused`);

  const ended = async (team: Team, status: string) => (await team.rest("GET", `/runs?status=${status}&limit=100`)).body.data.length;
  await until("the failures", async () => ((await ended(failing, "failed")) === EVENTS + 1 ? true : undefined));
  for (const team of others) assert.equal(await ended(team, "failed"), 0, team.name);
  const { data: usage } = (await nodes[0].rest("GET", "/usage")).body;
  for (const team of [failing, spying, ...others]) {
    const used = usage.find((row: { name: string }) => row.name === team.name);
    assert.deepEqual([used?.eventsAccepted, used?.eventsRefused], [EVENTS + 1, 0], team.name);
  }
});
