/** Guessing event and signing keys is limited by address. Who shares the address with a guesser goes on, also after a restart. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { until } from "./support/runs.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";

const EVENT = { name: "a/b", data: {} };
const from = (ip: string) => ({ "x-forwarded-for": ip });
/** On a slow machine, time would forgive what these tests count. */
const frozen = () => {
  const now = Date.now();
  return () => now;
};
const PROXIED = ["--trust-proxy", "127.0.0.1"];

async function guessEventKeys(service: TestService, ip: string, count: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  for (let n = 0; n < count; n++) {
    const { status } = await service.send(EVENT, { key: `guess-${n}`, headers: from(ip) });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  return statuses;
}

test("a hundred wrong event keys are answered, then one a second", async (t) => {
  let now = Date.now();
  const service = await startTestService(t, { flags: PROXIED, now: () => now });
  assert.deepEqual(
    [...(await guessEventKeys(service, "203.0.113.1", 110))],
    [
      [401, 100],
      [429, 10],
    ],
  );
  const refused = await service.send(EVENT, { key: "guess", headers: from("203.0.113.1") });
  assert.deepEqual([refused.body.code, refused.headers.get("retry-after")], ["too_many_attempts", "1"]);
  assert.equal((await service.send(EVENT, { key: "guess", headers: from("203.0.113.2") })).status, 401, "another address is not concerned");
  now += 1_000;
  assert.deepEqual(
    [...(await guessEventKeys(service, "203.0.113.1", 3))],
    [
      [401, 1],
      [429, 2],
    ],
  );
});

test("a long key is never locked out; a short one goes on where it worked before", async (t) => {
  const chosen = "sixteen-letters!";
  const service = await startTestService(t, { flags: [...PROXIED, "--event-key", chosen], now: frozen() });
  const made = (await service.rest("POST", "/keys", { body: { kind: "event", name: "made" } })).body.data.key;
  assert.equal((await service.send(EVENT, { headers: from("203.0.113.1") })).status, 200);
  for (const ip of ["203.0.113.1", "203.0.113.2"]) await guessEventKeys(service, ip, 101);
  const status = async (key: string, ip: string) => (await service.send(EVENT, { key, headers: from(ip) })).status;
  for (const key of [made, chosen]) assert.deepEqual([await status(key, "203.0.113.1"), await status(key, "203.0.113.2")], [200, 200]);
  assert.equal(await status(`${chosen}?`, "203.0.113.2"), 429, "a wrong key stays limited, however long it is");
  assert.deepEqual([await status(EVENT_KEY, "203.0.113.1"), await status(EVENT_KEY, "203.0.113.2")], [200, 429]);
});

test("a revoked key is invalid, and no guess", async (t) => {
  const service = await startTestService(t, { flags: PROXIED, now: frozen() });
  const { id, key } = (await service.rest("POST", "/keys", { body: { kind: "event", name: "old" } })).body.data;
  assert.equal((await service.rest("DELETE", `/keys/${id}`)).status, 200);
  const send = async (text: string) => (await service.send(EVENT, { key: text, headers: from("203.0.113.1") })).body.code;
  const codes = new Set<string>();
  for (let n = 0; n < 110; n++) codes.add(await send(key));
  assert.deepEqual([[...codes], await send("guess")], [["event_key_invalid"], "event_key_invalid"]);
  await guessEventKeys(service, "203.0.113.1", 100);
  assert.deepEqual([await send("guess"), await send(key)], ["too_many_attempts", "event_key_invalid"]);
});

test("wrong signing keys are limited, and right ones never", async (t) => {
  const service = await startTestService(t, { now: frozen() });
  const read = (bearer: string) =>
    call(`${service.url}/v0/runs/01JCQ7V8Z0ABCDEFGHJKMNPQRS/actions`, { headers: { authorization: `Bearer ${bearer}` } });
  const statuses = [];
  for (let n = 0; n < 12; n++) statuses.push((await read(`signkey-prod-${n}`)).status);
  assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429]);
  assert.equal((await read(SIGNING_KEY)).body.code, "run_state_gone", "the right one is let in");
});

test("a credential that worked beside a guesser works after a restart, when the guesser comes first", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestService(t, { dataDir, flags: PROXIED, now: frozen() });
  const read = (service: TestService, key: string) =>
    service.rest("GET", "/events", { headers: { authorization: `Bearer ${key}`, ...from("203.0.113.1") } });
  await guessEventKeys(first, "203.0.113.1", 1);
  await read(first, "guess");
  assert.equal((await read(first, API_KEY)).status, 200);
  assert.equal((await first.send(EVENT, { headers: from("203.0.113.1") })).status, 200);
  // Nobody waits for these entries.
  const entries = await until("both entries", async () => {
    const { data } = (await first.rest("GET", "/audit-log?action=key.proved")).body;
    return data.length >= 2 ? (data as { actor: { kind: string }; details: object }[]) : undefined;
  });
  assert.deepEqual(entries.map(({ actor, details }) => [actor.kind, details]).sort(), [
    ["api-key", { address: "203.0.113.1" }],
    ["event-key", { address: "203.0.113.1" }],
  ]);
  await first.stop();

  const second = await startTestService(t, { dataDir, flags: PROXIED, now: frozen() });
  await guessEventKeys(second, "203.0.113.1", 101);
  for (let n = 0; n < 11; n++) await read(second, `guess-${n}`);
  assert.equal((await read(second, "guess")).status, 429);
  assert.equal((await read(second, API_KEY)).status, 200);
  assert.equal((await second.send(EVENT, { headers: from("203.0.113.1") })).status, 200);
});
