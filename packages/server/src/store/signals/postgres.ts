/** Signals in PostgreSQL: the waiting step is found, and the signal delivered to it, in one transaction. */

import type { RunId, RunNo } from "@inlet/protocol";
import { SIGNAL_TAKEN, type SignalSendParams, type SignalStore, signalEventName } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { type Notices, PendingWrites } from "../postgres/pending-writes.ts";
import { retryCollisions } from "../postgres/retry-collisions.ts";
import { LeaseAllocation } from "../queue/policy/lease-allocation.ts";
import { type Arrival, makeDue } from "../queue/postgres/queue-entries.ts";
import { dropWaits, lockSignal } from "../waits/postgres/waits.ts";

const RUN_ID = "SELECT run_id FROM runs WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])";

export interface SignalStoreParts {
  database: Database;
  notify(notices: Notices): void;
}

export function signalStore({ database, notify }: SignalStoreParts): SignalStore {
  return {
    async signalSend(params) {
      const { notices, ...sent } = await retryCollisions(() => send(database, params));
      notify(notices);
      return sent;
    },
  };
}

async function send(database: Database, { environmentId, signal, value, now, lease }: SignalSendParams) {
  return database.transaction(async (client) => {
    const writes = new PendingWrites(client, environmentId);
    const allocation = new LeaseAllocation(now, lease);
    const waiting = await lockSignal(writes, signalEventName(signal), now);
    const due = waiting ? await makeDue(writes, [arrivalOf(allocation, waiting, { value })]) : [];
    dropWaits(writes, due);
    const runId = due[0] ? await idOf(writes, due[0].runNo) : null;
    await writes.settle();
    return { runId, leased: allocation.leased, notices: writes.notices };
  });
}

async function idOf(writes: PendingWrites, runNo: RunNo): Promise<RunId | null> {
  const [row] = await writes.rows<{ run_id: RunId }>(RUN_ID, writes.environmentId, [runNo]);
  return row?.run_id ?? null;
}

/** Runs that conflict with another run's wait for the same signal. Their entries have been written. */
export async function failSignals(writes: PendingWrites, taken: PendingWrites["signalsAdded"]): Promise<void> {
  const arrivals = taken.flatMap(({ allocation, runNo, wait: { stepId } }) =>
    stepId === null ? [] : [arrivalOf(allocation, { runNo, stepId }, { fault: SIGNAL_TAKEN })],
  );
  await makeDue(writes, arrivals);
}

function arrivalOf(
  allocation: LeaseAllocation,
  waiting: Pick<Arrival, "runNo" | "stepId">,
  outcome: NonNullable<Arrival["outcome"]>,
): Arrival {
  return { allocation, ...waiting, eventSequence: null, endedRunNo: null, outcome };
}
