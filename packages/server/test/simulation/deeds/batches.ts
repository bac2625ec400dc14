/** Several events in one request, of which some do not match the schemas that are declared now and then. */

import type { Random } from "../random.ts";
import type { SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimBatch, SimSchema } from "./deeds.ts";
import { type DeedParts, KEYS, RESEND_MS, SPAN_MS } from "./doing.ts";
import { isPassing, offer } from "./offers.ts";

/** Their events are numbered from here on. */
const FIRST_N = 10_000;

export function generateBatches(random: Random, functions: readonly SimFunction[], schemas: readonly SimSchema[]): SimBatch[] {
  const triggers = functions.flatMap(({ trigger }) => (trigger ? [trigger.event] : []));
  const declared = schemas.map(({ name }) => name);
  const name = () => (declared.length > 0 && random.chance(0.5) ? random.pick(declared) : random.pick(triggers));
  let n = FIRST_N;
  return Array.from({ length: declared.length > 0 ? 8 : random.pick([0, 2]) }, () => ({
    atMs: random.int(1, SPAN_MS),
    events: Array.from({ length: random.int(1, 4) }, () => ({
      name: name(),
      key: random.int(0, KEYS - 1),
      n: n++,
      isOdd: random.chance(0.4),
    })),
  }));
}

/** Sends until the response is known, always under the same seed. */
export async function sendBatch(parts: DeedParts, { events }: SimBatch): Promise<void> {
  const n = events[0]?.n ?? 0;
  const seed = `${parts.startedAt},${Buffer.from(String(n).padStart(10, "0")).toString("base64")}`;
  const sent = events.map(({ name, key, n: own, isOdd }) => ({ name, data: { k: key, n: own, ...(isOdd && { odd: true }) } }));
  const note = parts.journal.noteBatch(events);
  for (;;) {
    note.sentAt = now();
    const answer = await offer(parts, { n, body: JSON.stringify(sent), headers: { "x-inngest-event-id-seed": seed } });
    note.answeredAt = now();
    if (answer?.status === 200) note.outcome = "accepted";
    else if (answer?.text.includes('"event_schema"')) note.outcome = "refused";
    if (note.outcome !== null) return;
    if (!answer) note.mayBeStored = true;
    else if (!isPassing(parts, answer.status)) parts.journal.fault(`a batch was refused: ${answer.text}`);
    await pass(RESEND_MS);
  }
}
