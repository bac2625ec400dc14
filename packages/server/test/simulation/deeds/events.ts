/** Events that are sent until they are known to be accepted. */

import { WAITED } from "../generate-code.ts";
import type { Random } from "../random.ts";
import type { SimFunction } from "../scenario.ts";
import type { SimEvent } from "./deeds.ts";
import { type DeedParts, KEYS, SPAN_MS } from "./doing.ts";
import { offerUntilTaken } from "./offers.ts";

export const CANCELLING = ["c/a", "c/b"] as const;

export function generateEvents(random: Random, functions: readonly SimFunction[], starts: number): SimEvent[] {
  const triggers = functions.flatMap(({ trigger }) => (trigger ? [trigger.event] : []));
  const burst = random.chance(0.5);
  const at = () => (burst ? random.int(1, 5) * 4_000 + random.int(0, 20) : random.int(1, SPAN_MS));
  const names = Array.from({ length: starts }, () => random.pick(triggers));
  const others = Array.from({ length: Math.ceil(starts / 4) }, () => random.pick([...WAITED, ...WAITED, ...CANCELLING]));
  const events = [...names, ...others].map((name) => ({ atMs: at(), name, key: random.int(0, KEYS - 1) }));
  return events.sort((a, b) => a.atMs - b.atMs).map((event, n) => ({ ...event, n }));
}

/** Always under the same seed. */
export async function sendEvent(parts: DeedParts, { name, key, n }: SimEvent): Promise<void> {
  const seed = `${parts.startedAt + n},${Buffer.from(String(n).padStart(10, "0")).toString("base64")}`;
  const body = JSON.stringify({ name, data: { k: key, n } });
  await offerUntilTaken(parts, { n, body, headers: { "x-inngest-event-id-seed": seed } });
}
