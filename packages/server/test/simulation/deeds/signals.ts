/** Signals that are sent by somebody who is no function. */

import { SIGNAL } from "../generate-code.ts";
import type { Random } from "../random.ts";
import { signalName } from "../scenario.ts";
import type { SimSignal } from "./deeds.ts";
import { type DeedParts, KEYS, SPAN_MS } from "./doing.ts";

export function generateSignals(random: Random, starts: number): SimSignal[] {
  return Array.from({ length: Math.ceil(starts / 2) }, (_, n) => ({
    atMs: random.int(1, SPAN_MS * 1.5),
    signal: SIGNAL,
    key: random.int(0, KEYS - 1),
    n,
  }));
}

/** Once: whether it was taken is not known where the service goes away. */
export async function sendSignal({ ask, journal }: DeedParts, { signal, key, n }: SimSignal): Promise<void> {
  const body = JSON.stringify({ signal: signalName(signal, key), data: { n, no: journal.signalsSent++ } });
  const answer = await ask("/v1/signals", { headers: {}, body }).catch(() => null);
  if (answer && ![200, 404, 503].includes(answer.status)) journal.fault(`a signal was refused: ${await answer.text()}`);
}
