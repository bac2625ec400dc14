/**
 * The short way for what follows from most answers of apps: a run, its call, steps that are done, and the entry that was worked on, which
 * goes or is due again. See migrations/010-answers.sql. Whatever is more than that takes the long way, by write_units.
 */

import type { EnvironmentId } from "@inlet/protocol";
import { bigintArray, integerArray, textArray } from "./binary-arrays.ts";
import type { Database } from "./database.ts";
import type { Row, UnitDraft, UnitRows } from "./unit-draft.ts";

const PARAMETERS = 33;
const CALL = `SELECT write_answers(${Array.from({ length: PARAMETERS }, (_, n) => `$${n + 1}`).join(", ")})`;

/** In whose name and where all of a group are written; null for a unit that has to take the long way. */
export interface AnswerPlace {
  environmentId: EnvironmentId;
  node: string;
}

export function answerPlace({ rows, events, locks }: UnitDraft): AnswerPlace | null {
  const { runsRead, held, runs, calls, entries, entriesGone } = rows;
  const [read, entry, run] = [runsRead[0], held[0], runs[0]];
  if (!read || !entry || !run || runsRead.length + held.length + runs.length + calls.length + entries.length + entriesGone.length !== 5) {
    return null;
  }
  const worked = entriesGone[0] ?? entries[0];
  const isOneOfEach = calls.length === 1 && worked?.entry_no === entry.entry_no && run.run_no === read.run_no;
  if (!isOneOfEach || (entries[0] && entries[0].change !== "anew")) return null;
  if (events.length > 0 || locks.size > 0 || hasOthers(rows)) return null;
  return { environmentId: read.environment_id as EnvironmentId, node: entry.node as string };
}

/** What write_answers can check and write. Of every kind of rows, so that whoever adds one has to say it. */
const CAN_WRITE: Readonly<Record<keyof UnitRows, boolean>> = {
  ...{ runsRead: true, held: true, runs: true, calls: true, steps: true, entries: true, entriesGone: true },
  ...{ marksRead: false, waitsRead: false, eventsRead: false, newRuns: false, newEntries: false, newWaits: false },
  ...{ requests: false, attempts: false, waitsGone: false, marks: false },
};
const OTHERS = (Object.keys(CAN_WRITE) as (keyof UnitRows)[]).filter((kind) => !CAN_WRITE[kind]);

function hasOthers(rows: UnitRows): boolean {
  for (const kind of OTHERS) if (rows[kind].length > 0) return true;
  return false;
}

/** Fails as a whole when anything of it was decided on something that is no longer so. */
export async function writeAnswers(database: Database, { environmentId, node }: AnswerPlace, drafts: readonly UnitDraft[]): Promise<void> {
  const rows = (of: (rows: UnitDraft["rows"]) => Row[]) => drafts.flatMap((draft) => of(draft.rows));
  const runs = columnsOf(rows(({ runs }) => runs));
  const calls = columnsOf(rows(({ calls }) => calls));
  const again = columnsOf(rows(({ entries }) => entries));
  const done = columnsOf(rows(({ entriesGone }) => entriesGone));
  const numbers = drafts.map(({ rows: { runs } }) => runs[0]?.run_no as number);
  const steps = rows(({ steps }) => steps);
  const lanes = new Set(drafts.flatMap(({ lanes }) => [...lanes]));
  await database.query(CALL, [
    ...[environmentId, node, lanes.size === 0 ? null : [...lanes], Math.min(...numbers), Math.max(...numbers), bigintArray(numbers)],
    columnsOf(rows(({ runsRead }) => runsRead)).integers("revision"),
    ...[runs.texts("status"), runs.bigints("started_at"), runs.integers("request_version"), runs.integers("is_parallel")],
    ...[runs.bigints("state_bytes"), runs.bigints("ended_at"), runs.texts("output"), runs.texts("error")],
    ...[calls.texts("step_id"), calls.integers("attempt"), calls.bigints("started_at"), calls.bigints("ended_at")],
    ...[calls.integers("http_status"), calls.integers("is_error"), calls.texts("path"), calls.integers("steps_given")],
    ...[calls.texts("answer"), calls.integers("answer_length"), done.bigints("entry_no")],
    ...[again.bigints("entry_no"), again.integers("lane_no"), again.bigints("rank"), again.bigints("due_at")],
    ...[again.integers("attempt"), again.texts("leased_by"), steps.length === 0 ? null : JSON.stringify(steps)],
  ]);
}

/** Null where there are no rows. */
function columnsOf(rows: readonly Row[]) {
  const column = <Value>(name: string, encode: (values: readonly (Value | null)[]) => Buffer) =>
    rows.length === 0 ? null : encode(rows.map((row) => row[name] as Value | null));
  return {
    integers: (name: string) => column<number>(name, integerArray),
    bigints: (name: string) => column<number>(name, bigintArray),
    texts: (name: string) => column<string>(name, textArray),
  };
}
