/** Runs in PostgreSQL: changed by units, read in batches. */

import type { RunStore } from "../../contract/index.ts";
import { Handing } from "../../rows/entry-writes.ts";
import type { AdvanceRun } from "./advance-run.ts";
import { handedEntries } from "./append-events.ts";
import type { Database } from "../database.ts";
import type { GroupWriter } from "./group-writer.ts";
import type { KnownRuns } from "./known-runs.ts";
import { listRuns } from "./list-runs.ts";
import { noteCall } from "./note-call.ts";
import { findRun, getRun, summariseRuns } from "./read-runs.ts";
import type { RunReads } from "./run-reads.ts";
import { startRun } from "./start-runs.ts";

export interface RunStoreParts {
  database: Database;
  writer: GroupWriter;
  reads: RunReads;
  known: KnownRuns;
  runs: AdvanceRun;
  watch: RunStore["runWatch"];
}

export function runStore({ database, writer, reads, known, runs, watch }: RunStoreParts): RunStore {
  return {
    runStart: ({ environmentId, eventSequence, run, now, lease }) =>
      writer.submit((draft) => {
        const handing = new Handing(now, lease);
        startRun(draft, handing, environmentId, { sequence: eventSequence }, run);
        return () => ({ handed: handing.handed });
      }),
    runAdvance: ({ environmentId, runNo, entryNo, now, lease, decide }) =>
      writer.submit(
        (draft) => {
          const handing = new Handing(now, lease);
          const held = entryNo === null ? null : { entryNo, node: lease.node };
          const applied = runs.advance(draft, handing, { environmentId, runNo }, held, decide);
          return (written) => ({ applied, handed: handedEntries(draft, handing, written) });
        },
        { rows: 4, runNo, known: () => (entryNo === null ? null : known.findFor(runNo, entryNo, lease.node)) },
      ),
    runNoteCall: (late) => noteCall(database, late),
    runContext: (key) => reads.context(key),
    runFind: ({ id }) => findRun(database, id),
    runGet: (params) => getRun(database, params),
    runSummaries: (params) => summariseRuns(database, params),
    runWatch: watch,
    runList: (params) => listRuns(database, params),
  };
}
