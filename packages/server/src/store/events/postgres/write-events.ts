/** The write path of events: events from outside, with the runs they start and the waits they end. One transaction per group of batches. */

import type { EventAppendResult, EventBatch, WaitRules } from "../../contract/index.ts";
import type { KeyHash } from "../../dedup-keys/policy.ts";
import type { Database } from "../../postgres/database.ts";
import { flushWrites } from "../../postgres/flush-writes.ts";
import type { WriteGroup } from "../../postgres/group-commit.ts";
import { LockSet, nameLock } from "../../postgres/locks.ts";
import { type Notices, PendingWrites } from "../../postgres/pending-writes.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { resumeRuns } from "../../waits/postgres/resume-runs.ts";
import { appendEvents } from "./append-events.ts";
import type { InternedIds } from "./interned-ids.ts";

export interface WriteEventsParts {
  interned: InternedIds;
  keyHash: KeyHash;
  rules: WaitRules;
  notify(notices: Notices): void;
}

/** New names and sources are committed before the transaction that needs them. */
export function createInternIds(
  { interned }: Pick<WriteEventsParts, "interned">,
  database: Database,
): (batches: readonly EventBatch[]) => Promise<void> {
  return (batches) => interned.add((text, values) => database.query(text, values), batches);
}

export function createWriteEvents({ interned, keyHash, rules, notify }: WriteEventsParts): WriteGroup<EventBatch, EventAppendResult> {
  return async (client, environmentId, attempts) => {
    const writes = new PendingWrites(client, environmentId);
    const numbers = await interned.numbersFor(
      writes.read,
      attempts.map(({ work }) => work),
    );
    const locks = new LockSet();
    const names = new Set(attempts.flatMap(({ work }) => work.events.map(({ name }) => name)));
    for (const name of names) locks.add(nameLock(environmentId, name), "shared");
    locks.send(writes);
    const appendings = attempts.map(({ work: batch, mayBeWritten }) => {
      return { batch, mayBeWritten, allocation: new LeaseAllocation(batch.receivedAt, batch.lease) };
    });
    const { results, awaited } = await appendEvents(writes, { numbers, keyHash }, appendings);
    await flushWrites(writes);
    await resumeRuns(writes, rules, awaited);
    await writes.settle();
    return {
      results: results.map((result, index) => ({ ...result, leased: appendings[index]?.allocation.leased ?? [] })),
      onCommit: () => notify(writes.notices),
    };
  };
}
