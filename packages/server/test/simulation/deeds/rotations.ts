/** Event keys that are replaced: senders are given a new one, and the one before is revoked some time later. */

import { adoptKey } from "../../../src/receive/senders/issue-key.ts";
import type { Random } from "../random.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimRotation } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

export function generateRotations(random: Random): SimRotation[] {
  const times = Array.from({ length: random.pick([0, 0, 3, 6]) }, () => random.int(1, SPAN_MS));
  return times.sort((a, b) => a - b).map((atMs, index) => ({ atMs, no: index + 1, overlapMs: random.pick([0, 5, 2_000, 20_000]) }));
}

export async function rotateKey(parts: DeedParts, { no, overlapMs }: SimRotation): Promise<void> {
  const text = `event-key-${no}`;
  const { key } = adoptKey("event", text);
  await untilDone(parts, async ({ store, directory, environment: { id } }) => {
    const rules = { role: null, environments: null, eventNames: null, ips: null };
    await store.keyInsert({ ...key, ...rules, kind: "event", name: text, environmentId: id, createdAt: now() });
    await directory.refresh();
  });
  await pass(parts.journal.tellingMs);
  const old = parts.journal.keys.at(-1);
  parts.journal.noteKey(text, key.id);
  await pass(overlapMs);
  if (!old?.id || old.revokeAskedAt < now()) return;
  const { id } = old;
  old.revokeAskedAt = now();
  await untilDone(parts, async ({ store, directory }) => {
    await store.keyRevoke({ id, revokedAt: now() });
    await directory.refresh();
  });
  old.revokedAt = now();
}
