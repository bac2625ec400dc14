/** Events with an id of their sender, which sends them again some time later. */

import type { Random } from "../random.ts";
import type { SimFunction } from "../scenario.ts";
import { pass } from "../virtual-time.ts";
import type { SimEcho } from "./deeds.ts";
import { type DeedParts, KEYS, SPAN_MS } from "./doing.ts";
import { offerUntilTaken } from "./offers.ts";

/** Their events are numbered from here on. */
const FIRST_N = 20_000;

export function generateEchoes(random: Random, functions: readonly SimFunction[]): SimEcho[] {
  const triggers = functions.flatMap(({ trigger }) => (trigger ? [trigger.event] : []));
  return Array.from({ length: random.pick([0, 4]) }, (_, index) => ({
    atMs: random.int(1, SPAN_MS),
    name: random.pick(triggers),
    key: random.int(0, KEYS - 1),
    n: FIRST_N + index,
    afterMs: random.pick([5, 2_000, 2.5 * SPAN_MS]),
  }));
}

export async function sendTwice(parts: DeedParts, echo: SimEcho): Promise<void> {
  const note = parts.journal.noteEcho(echo);
  note.ids.push(await send(parts, echo, 1));
  await pass(echo.afterMs);
  note.ids.push(await send(parts, echo, 2));
}

/** Until it is known to be accepted. A duplicate is one whatever it carries. */
async function send(parts: DeedParts, { name, key, n }: SimEcho, nth: number): Promise<string> {
  const body = JSON.stringify({ name, id: `echo ${n}`, data: { k: key, n, nth } });
  return (await offerUntilTaken(parts, { n, body })).ids[0] ?? "";
}
