/** A transaction that changes a few rows and stores the event that reports the change. If the response to its commit is lost, it is done again. */

import type { EnvironmentId } from "@inlet/protocol";
import type { EventBatch, Lease, WaitRules } from "../contract/index.ts";
import type { KeyHash } from "../dedup-keys/policy.ts";
import { appendEvents } from "../events/postgres/append-events.ts";
import type { InternedIds } from "../events/postgres/interned-ids.ts";
import { LeaseAllocation } from "../queue/policy/lease-allocation.ts";
import { resumeRuns } from "../waits/postgres/resume-runs.ts";
import { CommitUnknown, type Database } from "./database.ts";
import { flushWrites } from "./flush-writes.ts";
import { LockSet, nameLock } from "./locks.ts";
import { type Notices, PendingWrites } from "./pending-writes.ts";
import { retryCollisions } from "./retry-collisions.ts";

export interface WriteWithEventParts {
  database: Database;
  interned: InternedIds;
  keyHash: KeyHash;
  rules: WaitRules;
  notify(notices: Notices): void;
}

export interface WriteWithEventParams {
  environmentId: EnvironmentId;
  now: number;
  lease: Lease | undefined;
  /** The name whose lock it holds, besides that of the event. */
  alone?: string;
  event: EventBatch;
}

/** What the transaction has at hand. */
export interface Writing {
  writes: PendingWrites;
  allocation: LeaseAllocation;
  append(batch: EventBatch): Promise<void>;
}

/** `work` may be done several times; it finds out whether an earlier attempt was committed. */
export async function writeWithEvent<Result>(
  { database, interned, keyHash, rules, notify }: WriteWithEventParts,
  { environmentId, now, lease, alone, event }: WriteWithEventParams,
  work: (writing: Writing) => Promise<Result>,
): Promise<Result> {
  await interned.add((text, values) => database.query(text, values), [event]);
  const locks = new LockSet();
  if (alone !== undefined) locks.add(nameLock(environmentId, alone), "alone");
  for (const { name } of event.events) locks.add(nameLock(environmentId, name), "shared");
  const write = () =>
    database.transaction(async (client) => {
      const writes = new PendingWrites(client, environmentId);
      const allocation = new LeaseAllocation(now, lease);
      locks.send(writes);
      const append = async (batch: EventBatch) => {
        const numbers = await interned.numbersFor(writes.read, [batch]);
        const { awaited } = await appendEvents(writes, { numbers, keyHash }, [{ batch, allocation, mayBeWritten: false }]);
        await flushWrites(writes);
        await resumeRuns(writes, rules, awaited);
      };
      const result = await work({ writes, allocation, append });
      await writes.settle();
      return { result, notices: writes.notices };
    });
  const { result, notices } = await retryCollisions(() =>
    write().catch((error) => (error instanceof CommitUnknown ? write() : Promise.reject(error))),
  );
  notify(notices);
  return result;
}
