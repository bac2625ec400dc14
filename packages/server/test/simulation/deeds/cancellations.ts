/** All runs of a function that were created by then are cancelled, or those whose event has a key. */

import { createEventIdGenerator } from "@inlet/protocol";
import type { Cancellation } from "../../../src/store/contract/index.ts";
import type { Random } from "../random.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimCancellation } from "./deeds.ts";
import { type DeedParts, KEYS, RESEND_MS, SPAN_MS, untilDone } from "./doing.ts";

const ids = createEventIdGenerator();

/** Of a run with several events, one decides: which one is not what this is about. */
export function generateCancellations(random: Random, functions: readonly SimFunction[]): SimCancellation[] {
  return Array.from({ length: random.pick([0, 0, 1, 2]) }, () => {
    const { id, flow } = random.pick(functions);
    const key = flow.batchEvents || random.chance(0.5) ? null : random.int(0, KEYS - 1);
    return { atMs: random.int(SPAN_MS / 10, SPAN_MS), fn: id, key };
  });
}

/** Asked for once: whether it was done is not known where the service goes away. To its end, if it was. */
export async function cancelMany(parts: DeedParts, { fn: id, key }: SimCancellation): Promise<void> {
  const fn = parts.scenario.functions.find((candidate) => candidate.id === id);
  if (!fn) return;
  const at = now();
  const cancellationId = ids.next(at) as string as Cancellation["id"];
  const note = parts.journal.noteCancellation({ id: cancellationId, functionId: fullId(fn), key, createdAt: at });
  const range = { startedAfter: null, startedBefore: at, expression: key === null ? null : `event.data.k == ${key}` };
  const stored = { id: cancellationId, functionId: fullId(fn), ...range, createdAt: at, endedAt: null };
  const asked = parts.nextNode().operate(({ functions, environment }) => {
    return functions.inngest.cancelMany({ ...stored, environmentId: environment.id });
  });
  const isKnown = await asked.then(() => true).catch(() => false);
  for (;;) {
    let found: Cancellation | null = null;
    await untilDone(parts, async ({ store, environment }) => {
      found = await store.cancellationGet({ environmentId: environment.id, id: cancellationId });
    });
    const { endedAt = null } = (found ?? {}) as Partial<Cancellation>;
    note.endedAt = endedAt;
    if (endedAt !== null || (!isKnown && found === null)) return;
    await pass(RESEND_MS);
  }
}
