import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId, KeyId } from "@inlet/protocol";
import { RealtimeTokens } from "./tokens.ts";

const [ALPHA, BETA] = [1 as EnvironmentId, 2 as EnvironmentId];
const topics = [{ channel: "c", name: "t" }];

/** The id of a key is its text. */
const keyOf = (text: string) => ({ id: text as KeyId, text });

function tokensWith(keys: Record<number, string[]>): RealtimeTokens {
  return new RealtimeTokens({ keys: (id) => (keys[id] ?? []).map(keyOf), now: () => 1_000_000 });
}

test("a token is good for its environment, by any key that the environment still has", () => {
  const service = tokensWith({ 1: ["new", "old"], 2: ["other"] });
  const token = service.issue({ environmentId: ALPHA, topics, keyId: keyOf("new").id });
  assert.deepEqual([service.read(token)?.environmentId, service.read(token)?.topics], [ALPHA, topics]);
  const before = tokensWith({ 1: ["old"] }).issue({ environmentId: ALPHA, topics, keyId: keyOf("old").id });
  assert.equal(service.read(before)?.environmentId, ALPHA, "of the older key");
  assert.deepEqual([service.read(token)?.keyId, service.read(before)?.keyId], ["new", "old"]);
  assert.equal(tokensWith({ 1: ["old"], 2: ["other"] }).read(token), null, "its key was revoked");
});

test("whoever holds the key of one environment makes no token for another", () => {
  const service = tokensWith({ 1: ["alpha"], 2: ["beta"] });
  const forged = tokensWith({ 1: ["beta"] }).issue({ environmentId: ALPHA, topics, keyId: keyOf("beta").id });
  assert.equal(service.read(forged), null);
  assert.equal(service.read(service.issue({ environmentId: BETA, topics, keyId: keyOf("beta").id }))?.environmentId, BETA);
  const [header, , signature] = forged.split(".");
  for (const claims of ["", "e30", "bnVsbA", "W10", "MQ", "eyJlbnYiOiJfX3Byb3RvX18ifQ", "%%%"])
    assert.equal(service.read(`${header}.${claims}.${signature}`), null, claims);
});
