import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import type { Environment, EnvironmentKind } from "../store/contract/index.ts";
import { environmentScopes, eventScopes, longestKept, type RetentionRules, shorterScopes } from "./retention-scopes.ts";

const none = { eventsMs: null, runsMs: null, requestsMs: null };
const environment = (id: number, kind: EnvironmentKind, retention = {}): Environment => ({
  id: id as EnvironmentId,
  name: `e${id}`,
  kind,
  createdAt: 0,
  archivedAt: null,
  bodyBytesMax: null,
  retention: { ...none, ...retention },
  quotas: { eventsPerSecond: null, eventsPerDay: null, bytesPerDay: null, callsAtOnce: null, storedBytes: null },
  databaseNo: 0,
});
const rules = (more: Partial<RetentionRules>): RetentionRules => ({
  installation: { eventsMs: 30, runsMs: 20, requestsMs: null },
  types: [],
  environments: [environment(1, "default"), environment(2, "shared"), environment(3, "branch")],
  ...more,
});
const type = (environmentId: number, name: string, retentionMs: number | null) => ({
  environmentId: environmentId as EnvironmentId,
  name,
  retentionMs,
});
const namesOf = async () => ["a", "b"];

test("without rules of their own, everything is one scope", async () => {
  assert.deepEqual(await eventScopes(rules({}), namesOf), [{ keptMs: 30 }]);
  assert.deepEqual(environmentScopes(rules({}), "runsMs"), [{ keptMs: 20 }]);
  assert.deepEqual(environmentScopes(rules({}), "requestsMs"), [], "for ever");
  assert.deepEqual(await eventScopes(rules({ types: [type(1, "a", null)] }), namesOf), [{ keptMs: 30 }], "null is the next wider rule");
});

test("an environment goes before the installation, and an event type before both", async () => {
  const environments = [environment(1, "default", { eventsMs: 5, runsMs: 6 }), environment(2, "shared"), environment(3, "branch")];
  assert.deepEqual(environmentScopes(rules({ environments }), "runsMs"), [
    { environmentId: 1, keptMs: 6 },
    { environmentId: 2, keptMs: 20 },
    { environmentId: 3, keptMs: 20 },
  ]);
  assert.deepEqual(await eventScopes(rules({ environments, types: [type(1, "a", 90)] }), namesOf), [
    { environmentId: 1, name: "a", keptMs: 90 },
    { environmentId: 1, name: "b", keptMs: 5 },
    { environmentId: 2, keptMs: 30 },
    { environmentId: 3, keptMs: 30 },
  ]);
});

test("branch environments share the event types of branch", async () => {
  assert.deepEqual(await eventScopes(rules({ types: [type(2, "a", 7)] }), namesOf), [
    { environmentId: 1, keptMs: 30 },
    ...[2, 3].flatMap((environmentId) => [
      { environmentId, name: "a", keptMs: 7 },
      { environmentId, name: "b", keptMs: 30 },
    ]),
  ]);
});

test("what is older than the longest rule can be dropped whole", () => {
  assert.equal(longestKept(rules({ types: [type(1, "a", 90), type(1, "b", 1)] }), "eventsMs"), 90);
  assert.equal(longestKept(rules({}), "runsMs"), 20);
  assert.equal(longestKept(rules({}), "requestsMs"), null);
  const own = [environment(1, "default", { requestsMs: 9 }), environment(2, "custom", { requestsMs: 8 })];
  assert.equal(longestKept(rules({ environments: own }), "requestsMs"), 9, "every environment has its own");
});

test("with an archive, what is kept longest leaves with its partition: single rows are removed by shorter rules only", () => {
  const scopes = [{ keptMs: 5 }, { keptMs: 10 }];
  assert.deepEqual(shorterScopes(scopes, 10), [{ keptMs: 5 }]);
  assert.deepEqual(shorterScopes(scopes, null), scopes, "nothing leaves with a partition if something is kept forever");
});
