/**
 * Events of people of whom some are forgotten later: everything that carries their number is erased, whatever their runs are doing. Two
 * functions handle these events, and hand their data to no others.
 */

import { CodeWriter } from "../generate-code.ts";
import type { Random } from "../random.ts";
import { SDKS, type SimFunction } from "../scenario.ts";
import { pass } from "../virtual-time.ts";
import type { SimErasure } from "./deeds.ts";
import { type DeedParts, KEYS, SPAN_MS, untilDone } from "./doing.ts";
import { offerUntilTaken } from "./offers.ts";

/** Their numbers occur nowhere else. */
const FIRST_N = 70_000_001;
const EVENT = "x/0";
const EVENTS = 6;

export function generateErasures(random: Random): SimErasure[] {
  if (random.chance(0.7)) return [];
  return [0, 1].map((index) => ({
    atMs: random.int(1, SPAN_MS / 2),
    afterMs: random.pick([1, 50, 2_000, SPAN_MS]),
    events: Array.from({ length: EVENTS }, (_, offset) => ({ key: random.int(0, KEYS - 1), n: FIRST_N + index * EVENTS + offset })),
    erased: random.int(1, 3),
  }));
}

/** The first may invoke the second. */
export function erasedFunctions(random: Random): SimFunction[] {
  const fn = (id: string, trigger: SimFunction["trigger"], invoked: readonly string[]): SimFunction => {
    const writer = new CodeWriter(random, invoked, { isApart: true });
    const parts = Array.from({ length: random.int(1, 3) }, () => writer.code(0));
    if (random.chance(0.3)) parts.push({ kind: "throw", fails: random.pick([1, 99]), final: random.chance(0.3) });
    const sdk = random.pick(SDKS);
    return { id, sdk, trigger, retries: random.pick([0, 1]), code: { kind: "sequence", parts }, onFailure: true, cancelOn: null, flow: {} };
  };
  return [fn("x0", { event: EVENT, onlyOdd: false }, ["x1"]), fn("x1", null, [])];
}

export async function erase(parts: DeedParts, { events, afterMs, erased }: SimErasure): Promise<void> {
  const { journal } = parts;
  const ids = await Promise.all(events.map((event) => send(parts, event)));
  await pass(afterMs);
  for (const [index, { n }] of events.slice(0, erased).entries()) {
    const note = journal.noteErasure(n, ids[index] ?? "");
    await untilDone(parts, async ({ jobs, environment }) => {
      const asked = journal.noteJob("events.erase", null);
      asked.id = (await jobs.create(environment, { kind: "events.erase", filter: { q: String(n) } })).id;
      note.jobId = asked.id;
      note.askedAt = asked.askedAt;
    });
  }
}

/** Until it is known to be accepted, with an id of its own. */
async function send(parts: DeedParts, { key, n }: SimErasure["events"][number]): Promise<string> {
  const body = JSON.stringify({ name: EVENT, id: `person of event ${n - FIRST_N}`, data: { k: key, n } });
  return (await offerUntilTaken(parts, { n, body })).ids[0] ?? "";
}
