/**
 * Signing keys that are replaced while runs go on: the new key is created, the apps are deployed with it, and the one before is revoked
 * some time later. Apps have one key at a time and refuse calls that it did not sign, before they run anything.
 */

import { adoptKey } from "../../../src/receive/senders/issue-key.ts";
import type { Random } from "../random.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimSigningRotation } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

export function generateSigningRotations(random: Random): SimSigningRotation[] {
  const times = Array.from({ length: random.pick([0, 0, 1, 4]) }, () => random.int(1, SPAN_MS));
  return times
    .sort((a, b) => a - b)
    .map((atMs, index) => ({
      atMs,
      no: index + 1,
      deployAfterMs: random.pick([0, 5, 2_000]),
      overlapMs: random.pick([0, 5, 2_000, 20_000]),
    }));
}

export async function rotateSigningKey(parts: DeedParts, { no, deployAfterMs, overlapMs }: SimSigningRotation): Promise<void> {
  const { text, key } = adoptKey("signing", `signkey-sim-${String(no).padStart(64, "0")}`);
  await untilDone(parts, async ({ store, directory }) => {
    const rules = { role: null, environments: null, eventNames: null, ips: null };
    await store.keyInsert({ ...key, ...rules, kind: "signing", name: text, environmentId: null, createdAt: now() });
    await directory.refresh();
  });
  await pass(parts.journal.tellingMs + deployAfterMs);
  const old = parts.journal.appKey;
  parts.journal.appKey = text;
  await pass(overlapMs);
  await untilDone(parts, async ({ store, directory }) => {
    const known = (await store.keyList()).find(({ secret, kind }) => kind === "signing" && secret === old);
    if (known) await store.keyRevoke({ id: known.id, revokedAt: now() });
    await directory.refresh();
  });
}
