/** Schemas that are declared for events of a name, and taken back after a while. */

import type { Random } from "../random.ts";
import type { SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimSchema } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

/** Whatever events have otherwise. */
const SCHEMA = JSON.stringify({ type: "object", properties: { odd: false } });

/** At most one for each name. */
export function generateSchemas(random: Random, functions: readonly SimFunction[]): SimSchema[] {
  if (random.chance(0.6)) return [];
  const names = new Set(Array.from({ length: 2 }, () => random.pick(functions).trigger?.event ?? "n/noted"));
  return [...names].map((name) => ({
    atMs: random.int(1, SPAN_MS / 2),
    forMs: random.pick([5, 5_000, SPAN_MS]),
    name,
    mode: random.pick(["observe", "warn", "refuse", "refuse"] as const),
  }));
}

export async function declareSchema(parts: DeedParts, { name, mode, forMs }: SimSchema): Promise<void> {
  const put = (schema: string | null) =>
    untilDone(parts, async ({ store, catalogue, environment }) => {
      await store.eventSchemaPut({ environmentId: environment.id, name, schema, mode, now: now() });
      await catalogue.refresh();
    });
  const note = parts.journal.noteSchema(name, mode);
  await put(SCHEMA);
  note.declaredAt = now();
  await pass(forMs);
  note.removeAskedAt = now();
  await put(null);
  note.removedAt = now();
}
