/**
 * Numbers that an environment gets in its new database are above all that it has: lists and streams go on by them. A sequence moves
 * forward by whole steps, so that its numbers keep the remainder that tells its database from the others.
 */

import type { Database } from "../../postgres/database.ts";

interface SequenceRow {
  name: string;
  is_large: boolean;
  last: number;
  step: number;
}

/** Of tables that move: all that count in large numbers, and these. */
const SMALL = ["apps_app_no_seq", "functions_function_no_seq"];
const READ = `
  SELECT sequencename AS name, data_type = 'bigint'::regtype AS is_large, increment_by AS step,
    coalesce(last_value, start_value - increment_by) AS last
  FROM pg_sequences WHERE schemaname = current_schema() AND (data_type = 'bigint'::regtype OR sequencename = ANY ($1::text[]))`;
const SET = "SELECT setval(name::regclass, value) FROM unnest($1::text[], $2::bigint[]) AS moved(name, value)";
/** Others take numbers meanwhile: by so many steps more, the sequence surely moves forward. */
const SPARE_STEPS = 1_000;
/** The same for sequences that are seldom used. */
const SPARE_STEPS_SMALL = 16;

/** `source` is held. */
export async function moveSequences(source: Database, target: Database): Promise<void> {
  const reached = new Map((await source.query<SequenceRow>(READ, [SMALL])).map(({ name, last }) => [name, last]));
  const moved = (await target.query<SequenceRow>(READ, [SMALL])).flatMap(({ name, last, step, is_large }) => {
    const behind = (reached.get(name) ?? 0) - last;
    const spare = is_large ? SPARE_STEPS : SPARE_STEPS_SMALL;
    return behind >= 0 ? [{ name, value: last + (Math.ceil(behind / step) + spare) * step }] : [];
  });
  await target.query(SET, [moved.map(({ name }) => name), moved.map(({ value }) => value)]);
}
