/** The parts of the nouns that write events and runs inside a transaction of the writer, and how they use each other. */

import type { DatabaseSync } from "node:sqlite";
import { ApprovalRows } from "../approvals/sqlite/approval-rows.ts";
import type { WaitRules } from "../contract/index.ts";
import type { KeyHash } from "../dedup-keys/policy.ts";
import { prepareAppendEvents } from "../events/sqlite/append-events.ts";
import { InsertEvents } from "../events/sqlite/insert-events.ts";
import { InternedIds } from "../events/sqlite/interned-ids.ts";
import { Limits } from "../limits/sqlite.ts";
import { RunOrder } from "../orders/sqlite.ts";
import { QueueEntries } from "../queue/sqlite/queue-entries.ts";
import { Resumptions } from "../resumptions/sqlite/resumptions.ts";
import { AdvanceRun, type AppendInside } from "../runs/sqlite/advance-run.ts";
import { ChangedRuns } from "../runs/sqlite/changed-runs.ts";
import { RunStates } from "../runs/sqlite/run-state.ts";
import { StartRuns } from "../runs/sqlite/start-runs.ts";
import { StepRows } from "../runs/sqlite/step-rows.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import { TrafficRows } from "../traffic/sqlite.ts";
import { UsageRows } from "../usage/sqlite.ts";
import { ResumeRuns } from "../waits/sqlite/resume-runs.ts";
import { Waits } from "../waits/sqlite/waits.ts";

export type RunParts = ReturnType<typeof createRunParts>;

export interface RunPartsNeeds {
  box: SecretBox;
  keyHash: KeyHash;
  rules: WaitRules;
}

export function createRunParts(db: DatabaseSync, { box, keyHash, rules }: RunPartsNeeds) {
  const interned = new InternedIds(db);
  const rows = new InsertEvents(db);
  const waits = new Waits(db);
  const approvals = new ApprovalRows(db);
  const changed = new ChangedRuns();
  const limits = new Limits(db);
  const traffic = new TrafficRows(db);
  const usage = new UsageRows(db);
  const states = new RunStates(db, box);
  const entries = new QueueEntries(db);
  const order = new RunOrder(db, limits);
  const steps = new StepRows(db);
  const startRuns = new StartRuns(db, { entries, order, waits, changed, rows, steps, usage });
  const resumptions = new Resumptions(db);
  const resumeRuns = new ResumeRuns({ waits, states, entries, rules, rows, resumptions });
  const events = prepareAppendEvents(db, { rows, interned, entries, startRuns, resumeRuns, usage, keyHash });
  const append: AppendInside = (allocation, batch) => void events.appendInside(allocation, batch);
  const runs = new AdvanceRun(db, { states, steps, entries, waits, approvals, limits, order, resumeRuns, append, changed, traffic });
  const caches = [interned, rows, waits, changed, limits, resumeRuns, traffic, usage];
  return {
    waits,
    approvals,
    changed,
    limits,
    states,
    entries,
    order,
    startRuns,
    resumptions,
    resumeRuns,
    events,
    append,
    runs,
    traffic,
    usage,
    caches,
  };
}
