/** What the SDK has of its own, because it is published alone, must be what the service means by it. */

import assert from "node:assert/strict";
import test from "node:test";
import * as protocol from "@inlet/protocol";
import { HEADER_NAMES } from "../../server/src/execute/call/header-names.ts";
import { stepSeed } from "../src/client/event-seed.ts";
import { durationMs, durationText } from "../src/duration.ts";
import { canonicalJson } from "../src/wire/canonical-json.ts";
import { HEADER } from "../src/wire/headers.ts";
import { bearerToken, signBody, verifySignature } from "../src/wire/signing.ts";

test("headers have the same names", () => {
  const { sdk, signature, serverKind, noRetry, requestVersion, runId, expectedServerKind } = HEADER_NAMES.service;
  assert.deepEqual(
    { sdk, signature, serverKind, noRetry, requestVersion, runId, expectedServerKind },
    {
      sdk: HEADER.sdk,
      signature: HEADER.signature,
      serverKind: HEADER.serverKind,
      noRetry: HEADER.noRetry,
      requestVersion: HEADER.requestVersion,
      runId: HEADER.runId,
      expectedServerKind: HEADER.expectedServerKind,
    },
  );
  assert.deepEqual(
    [protocol.ENVIRONMENT_HEADER, protocol.RUN_HEADER, protocol.EVENT_ID_SEED_HEADER],
    [HEADER.environment, HEADER.run, HEADER.eventIdSeed],
  );
});

test("signatures and bearer tokens are understood", async () => {
  for (const key of [`signkey-prod-${"0a".repeat(32)}`, "0b".repeat(32), `signkey-branch_x-${"0c".repeat(16)}`]) {
    const body = '{"größe":"🧺"}';
    const header = protocol.signBody(body, key, 1_700_000_000);
    assert.equal(await signBody(Buffer.from(body), key, 1_700_000_000_000), header);
    assert.deepEqual(await verifySignature(header, Buffer.from(body), [key], 1_700_000_000_000), { ok: true });
    assert(protocol.signingKeyBearers(key).includes(await bearerToken(key)));
  }
});

test("canonical JSON is the same text", () => {
  const values = [
    {
      b: [1e21, 1e-7, 0.1, -0, 123456789012345680000],
      a: null,
      "": true,
      "€": '\u2028\u0007"\\',
      "\ud83d\ude00": 1,
      "\ufb33": 2,
      "10": 3,
      "9": 4,
    },
    [],
    {},
    [[{ z: { y: { x: [false] } } }]],
    "text",
  ];
  for (const value of values) {
    assert.equal(canonicalJson(value), protocol.canonicalJson(JSON.stringify(value), { exactNumbers: false }));
  }
});

test("durations mean the same time", () => {
  for (const ms of [1, 999, 1_500, 60_000, 5_400_000, 86_400_000, 694_861_001]) {
    assert.equal(protocol.parseDuration(durationText(ms)), ms);
    assert.equal(durationMs(durationText(ms)), ms);
  }
});

test("seeds of steps are seeds, with the time of the run's id", () => {
  const runId = protocol.createEventIdGenerator().next(1_700_000_000_123);
  const seed = protocol.parseEventIdSeed(stepSeed(runId, "hash", 0)) ?? assert.fail("is no seed");
  assert.equal(seed.timeMs, 1_700_000_000_123);
  assert.notDeepEqual(seed, protocol.parseEventIdSeed(stepSeed(runId, "other", 0)));
  assert.equal(protocol.parseEventIdSeed(stepSeed("not a ulid", "hash", 5))?.timeMs, 5);
});
