/** Functions are invoked by people: one run each, however often a request is sent again with its key. */

import type { Random } from "../random.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import type { SimInvocation } from "./deeds.ts";
import { type DeedParts, KEYS, SPAN_MS, untilDone } from "./doing.ts";

const FIRST_N = 50_000;

/** Of functions without rules about starts, which may hold or drop a run. */
export function generateInvocations(random: Random, functions: readonly SimFunction[]): SimInvocation[] {
  const free = functions.filter(({ flow }) => Object.keys(flow).length === 0);
  if (free.length === 0) return [];
  return Array.from({ length: random.pick([0, 1, 3]) }, (_, index) => ({
    atMs: random.int(1, SPAN_MS),
    fn: random.pick(free).id,
    key: random.int(0, KEYS - 1),
    n: FIRST_N + index,
    times: random.pick([1, 2]),
  }));
}

/** Until the service has said that it is done, so many times, with one idempotency key. */
export async function invokeFunction(parts: DeedParts, { fn: id, key, n, times }: SimInvocation): Promise<void> {
  const fn = parts.scenario.functions.find((candidate) => candidate.id === id);
  if (!fn) return;
  const note = parts.journal.noteInvocation(fullId(fn), n);
  for (let time = 0; time < times; time++)
    await untilDone(parts, async ({ functions, environment }) => {
      const data = JSON.stringify({ k: key, n });
      const invoked = await functions.inngest.invoke(environment, note.functionId, data, `invocation ${n}`);
      note.runIds.push(invoked.kind === "held" ? null : invoked.runId);
    });
}
