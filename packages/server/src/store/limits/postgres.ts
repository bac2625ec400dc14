/** Slots of concurrency limits: taken under the lock of each limit, freed with the entry or the run that holds them. */

import type { EntryNo, EnvironmentId, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { LimitRule } from "../contract/index.ts";
import { LockSet, limitLock } from "../postgres/locks.ts";
import type { PendingWrites } from "../postgres/pending-writes.ts";
import { freeByLimit, OF_RUN } from "./policy.ts";

/** A leased entry is due again when its lease expires. From then on it holds no slot. */
const USED = `
  SELECT slot.limit_id, count(*)::integer AS used FROM limit_slots AS slot
  WHERE md5(slot.limit_id) = ANY (SELECT md5(id) FROM unnest($1::text[]) AS id) AND slot.limit_id = ANY ($1::text[])
    AND (slot.entry_no = ${OF_RUN} OR EXISTS (
      SELECT FROM queue WHERE queue.environment_id = slot.environment_id AND queue.entry_no = slot.entry_no AND queue.due_at > $2))
  GROUP BY slot.limit_id`;
const TAKE = `
  INSERT INTO limit_slots (limit_id, environment_id, run_no, entry_no)
  SELECT limit_id, environment_id, run_no, entry_no FROM unnest($1::text[]) AS limit_id
  CROSS JOIN unnest($2::integer[], $3::bigint[], $4::bigint[]) AS holder(environment_id, run_no, entry_no)
  ON CONFLICT DO NOTHING`;
/** $2: the runs of all slots concerned; $3: ended runs, which no longer hold slots themselves; $4: entries. */
const FREE = `
  DELETE FROM limit_slots WHERE environment_id = $1 AND run_no = ANY ($2::bigint[])
    AND (entry_no = ANY ($4::bigint[]) OR entry_no = ${OF_RUN} AND run_no = ANY ($3::bigint[]))
  RETURNING limit_id`;

export interface SlotHolder {
  environmentId: EnvironmentId;
  runNo: RunNo;
  /** Null: the run itself. */
  entryNo: EntryNo | null;
}

/** Until the transaction ends, no other transaction takes slots of these limits. */
export async function lockLimits(client: PoolClient, rules: readonly LimitRule[]): Promise<void> {
  const locks = new LockSet();
  for (const { id } of rules) locks.add(limitLock(id), "alone");
  await locks.take(client);
}

/** The number of free slots of each limit, by its id. */
export async function freeSlotsOf(client: PoolClient, rules: readonly LimitRule[], now: number): Promise<Map<string, number>> {
  if (rules.length === 0) return new Map();
  const { rows } = await client.query<{ limit_id: string; used: number }>(USED, [rules.map(({ id }) => id), now]);
  const used = new Map(rows.map((row) => [row.limit_id, row.used]));
  return freeByLimit(rules, (id) => used.get(id) ?? 0);
}

export async function takeSlots(client: PoolClient, rules: readonly LimitRule[], holders: readonly SlotHolder[]): Promise<void> {
  if (rules.length === 0 || holders.length === 0) return;
  await client.query(TAKE, [
    rules.map(({ id }) => id),
    holders.map(({ environmentId }) => environmentId),
    holders.map(({ runNo }) => runNo),
    holders.map(({ entryNo }) => entryNo ?? OF_RUN),
  ]);
}

/** Listeners of these limits are notified after the commit. */
export async function freeSlots(
  writes: Pick<PendingWrites, "read" | "environmentId" | "notices">,
  { entries = [], runs = [] }: { entries?: readonly { runNo: RunNo; entryNo: EntryNo }[]; runs?: readonly RunNo[] },
): Promise<void> {
  const runNos = [...runs, ...entries.map(({ runNo }) => runNo)];
  if (runNos.length === 0) return;
  const values = [writes.environmentId, runNos, runs, entries.map(({ entryNo }) => entryNo)];
  for (const { limit_id } of await writes.read<{ limit_id: string }>(FREE, values)) writes.notices.limitIds.add(limit_id);
}
