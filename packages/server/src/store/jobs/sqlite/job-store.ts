/** Jobs in SQLite. A batch's starts and the cursor are one unit of the writer: both are stored, or neither. */

import type { DatabaseSync } from "node:sqlite";
import type { JobStore } from "../../contract/index.ts";
import type { StartRuns } from "../../runs/sqlite/start-runs.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import { JobRows } from "./job-rows.ts";

export interface JobStoreParts {
  writer: GroupCommit;
  startRuns: StartRuns;
}

/** The work of writing a run: its row, its entry and their index entries. */
const ROWS_PER_START = 4;

export function jobStore(db: DatabaseSync, { writer, startRuns }: JobStoreParts): JobStore {
  const rows = new JobRows(db, startRuns);
  return {
    jobInsert: (job) => writer.submit(() => rows.insert(job)),
    jobItemsAdd: (params) => writer.submit(() => rows.addItems(params)),
    jobGet: async ({ environmentId, id }) => rows.read(environmentId, id),
    jobFind: async ({ environmentIds, id }) => rows.findIn(environmentIds, id),
    jobList: async (params) => rows.list(params),
    jobSeriesIsOpen: async ({ environmentId, series }) => rows.isOpenInSeries(environmentId, series),
    jobClaim: (params) => writer.submit(() => rows.claim(params)),
    jobRenew: (params) => writer.submit(() => rows.renew(params)),
    jobItems: async (params) => rows.lastItems(params),
    jobAdvance: (params) => writer.submit(() => rows.advance(params), 1 + params.starts.length * ROWS_PER_START),
    jobEnd: (params) => writer.submit(() => rows.end(params)),
    jobExpireMany: (params) => writer.submit(() => rows.expireMany(params), params.limit),
  };
}
