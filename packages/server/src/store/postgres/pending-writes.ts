/**
 * Collects the rows that the units of one group write, so that each table is written by one statement, and the notifications
 * to send after the commit. Everything belongs to one environment.
 */

import type { EntryNo, EnvironmentId, RunNo, StepId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { CallRecord, FailedAttempt, NewApproval, NewRun, NewWait, RunRecord, TrafficMinute } from "../contract/index.ts";
import type { EntryPosition, EntryWrite, LeaseAllocation } from "../queue/policy/lease-allocation.ts";
import type { RunColumns, StepRowWrite } from "../runs/policy/plan-run-writes.ts";
import { UsageSums } from "../usage/policy.ts";
import { type Read, sendTogether } from "./database.ts";

export interface RunInsert {
  runNo: RunNo;
  run: NewRun;
  eventSequence: number;
  status: "running" | "queued";
  createdAt: number;
}

export interface EntryAdded {
  allocation: LeaseAllocation;
  write: EntryWrite;
  position: EntryPosition;
}

export class PendingWrites {
  readonly client: PoolClient;
  readonly environmentId: EnvironmentId;
  readonly runsAdded: RunInsert[] = [];
  readonly runsChanged: { runNo: RunNo; run: RunColumns }[] = [];
  readonly runsEnded: RunNo[] = [];
  /** The ended runs that had a position in an order. */
  readonly ordersEnded: { runNo: RunNo; heldAt: number | null }[] = [];
  readonly steps: { runNo: RunNo; step: StepRowWrite }[] = [];
  readonly attempts: { runNo: RunNo; attempt: FailedAttempt }[] = [];
  readonly calls: { runNo: RunNo; call: CallRecord }[] = [];
  readonly entriesAdded: EntryAdded[] = [];
  readonly entriesRenewed: (EntryAdded & { no: EntryNo })[] = [];
  readonly entriesRemoved: EntryNo[] = [];
  readonly entriesAgain: EntryNo[] = [];
  readonly entriesReset: EntryNo[] = [];
  readonly slotsFreed: { runNo: RunNo; entryNo: EntryNo }[] = [];
  readonly waitsAdded: { runNo: RunNo; wait: NewWait }[] = [];
  /** Waits for signals. */
  readonly signalsAdded: { allocation: LeaseAllocation; runNo: RunNo; wait: NewWait }[] = [];
  /** Questions that steps of these runs ask. */
  readonly approvalsAdded: { run: Pick<RunRecord, "no" | "id" | "functionNo">; approval: NewApproval }[] = [];
  /** Ended runs that may leave approvals which nobody waits for. */
  readonly approvalsEnded: { runNo: RunNo; now: number }[] = [];
  readonly waitsRemoved: { runNo: RunNo; stepId: StepId }[] = [];
  readonly traffic: TrafficMinute[] = [];
  readonly usage = new UsageSums();
  readonly notices: Notices = noNotices();
  readonly #matched = new Set<number>();
  readonly #sent: Promise<void>[] = [];
  #fault: unknown = null;

  constructor(client: PoolClient, environmentId: EnvironmentId) {
    this.client = client;
    this.environmentId = environmentId;
  }

  /** Any node can claim an entry of the lane at that time. */
  announce(lane: string, dueAt: number): void {
    noteLane(this.notices, lane, dueAt);
  }

  /** Returns the rows of a statement, which runs after all statements sent before it. */
  async rows<Row>(text: string, ...values: readonly unknown[]): Promise<Row[]> {
    sendTogether(this.client);
    try {
      return (await this.client.query(text, values as unknown[])).rows as Row[];
    } catch (error) {
      // An earlier statement failed, so PostgreSQL refuses all that follow.
      throw this.#fault ?? error;
    }
  }

  /** Sends a statement whose result is not needed. Others follow without waiting for it; `settle` throws if it failed. */
  send(text: string, ...values: readonly unknown[]): void {
    const noteFault = (error: unknown) => {
      this.#fault ??= error;
    };
    sendTogether(this.client);
    this.#sent.push(this.client.query(text, values as unknown[]).then(() => {}, noteFault));
  }

  /** Notes that an event started a function, or resumed a run, after the event was stored. */
  noteMatched(...sequences: readonly number[]): void {
    for (const sequence of sequences) this.#matched.add(sequence);
  }

  /** Resolves when every statement sent has completed. */
  async settle(): Promise<void> {
    if (this.#matched.size > 0) this.send(SET_MATCHED, this.environmentId, [...this.#matched]);
    await Promise.all(this.#sent);
    if (this.#fault !== null) throw this.#fault;
  }

  readonly read: Read = (text, values) => this.rows(text, ...values);
}

const SET_MATCHED = "UPDATE events SET matched = 1 WHERE environment_id = $1 AND sequence = ANY ($2::bigint[]) AND matched = 0";

/** What listeners and other nodes are notified of after the commit. */
export interface Notices {
  /** Events or requests were stored. */
  hasEvents: boolean;
  runNos: Set<RunNo>;
  /** Lanes with unleased entries, and when these are due. */
  lanes: Map<string, Set<number>>;
  limitIds: Set<string>;
  /** Events or waits were left to further transactions. Only this node is notified. */
  hasResumptions: boolean;
}

export function noNotices(): Notices {
  return { hasEvents: false, runNos: new Set(), lanes: new Map(), limitIds: new Set(), hasResumptions: false };
}

export function noteLane({ lanes }: Notices, lane: string, dueAt: number): void {
  const times = lanes.get(lane);
  if (times) times.add(dueAt);
  else lanes.set(lane, new Set([dueAt]));
}
