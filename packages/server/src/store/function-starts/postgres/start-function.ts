/** Decides one start of a function with rules about its starts, and collects the rows to write. */

import assert from "node:assert/strict";
import type { FunctionNo, RunNo } from "@inlet/protocol";
import { type FunctionStartChange, type FunctionStartParams, TIMER_LANE } from "../../contract/index.ts";
import { eventsAt } from "../../events/postgres/select-events.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import type { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import type { Consequences, DecisionResult } from "../../runs/postgres/decisions.ts";
import { addEntry, startRunForStored } from "../../runs/postgres/start-runs.ts";
import { gatherEntry } from "../policy.ts";
import type { Marks } from "./marks.ts";

const MOVE = `
  UPDATE queue SET rank = $3, due_at = $3, lease_id = NULL, leased_by = NULL, claims = 0, calling_probes = 0, concluding_probes = 0
  WHERE environment_id = $1 AND entry_no = $2`;

export interface StartParts {
  allocation: LeaseAllocation;
  marks: Marks;
  consequences: Consequences;
  /** For the run, if there is one. */
  runNo: RunNo;
}

export async function startFunction(
  writes: PendingWrites,
  parts: StartParts,
  params: FunctionStartParams,
): Promise<Omit<DecisionResult, "leased">> {
  const { marks } = parts;
  const { entry, functionNo } = params;
  if (!marks.isHeld(entry)) return { applied: false, refused: undefined };
  const values = params.marks.map((mark) => marks.get(functionNo, mark));
  const needed = params.eventsNeeded?.(values) ?? [];
  const events = await eventsAt(writes.read, writes.environmentId, needed);
  const change = params.decide({
    marks: values,
    isActive: (runNo) => marks.isActive(runNo),
    events(sequences) {
      assert.ok(
        sequences.every((sequence) => needed.includes(sequence)),
        "a decision asks only for events it said it needs",
      );
      return sequences.flatMap((sequence) => events.get(sequence) ?? []);
    },
  });
  if (change.againAt !== undefined) {
    writes.send(MOVE, writes.environmentId, entry.no, change.againAt);
    writes.announce(TIMER_LANE, change.againAt);
  } else if (!change.refused) writes.entriesRemoved.push(entry.no);
  apply(writes, parts, functionNo, change);
  return { applied: true, refused: change.refused };
}

function apply(writes: PendingWrites, parts: StartParts, functionNo: FunctionNo, change: FunctionStartChange): void {
  const { allocation, marks, consequences, runNo } = parts;
  for (const { kind, key, value, expiresAt } of change.marks ?? []) marks.set(functionNo, { kind, key }, value, expiresAt);
  for (const other of change.cancels ?? []) consequences.cancelled.push({ allocation, runNo: other, eventSequence: null });
  for (const batch of change.events ?? []) consequences.appendings.push({ batch, allocation, mayBeWritten: false });
  if (change.gather) addEntry(writes, allocation, gatherEntry(writes.environmentId, functionNo, change.gather));
  if (!change.run) return;
  startRunForStored(writes, allocation, runNo, change.run.event.sequence, change.run.run);
  if (change.holdMark) marks.hold(functionNo, change.holdMark, runNo, allocation.now);
}
