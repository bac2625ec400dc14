/** The two write paths: events, and decisions about runs. Each collects work that arrives together into groups. */

import type { CommitFigures, EventAppendResult, EventBatch, LeasedEntry, WaitRules } from "../contract/index.ts";
import type { KeyHash } from "../dedup-keys/policy.ts";
import { InternedIds } from "../events/postgres/interned-ids.ts";
import { createInternIds, createWriteEvents } from "../events/postgres/write-events.ts";
import type { Decision, DecisionResult } from "../runs/postgres/decisions.ts";
import { createWriteDecisions } from "../runs/postgres/write-decisions.ts";
import type { Database } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Notices } from "./pending-writes.ts";

export interface WritersParts {
  database: Database;
  keyHash: KeyHash;
  rules: WaitRules;
  notify(notices: Notices): void;
  /** Gives up leases that a lost attempt may have taken. */
  release(entries: readonly LeasedEntry[]): Promise<void>;
  onCommitted?: ((figures: CommitFigures) => void) | undefined;
}

export function createWriters({ database, keyHash, rules, notify, release, onCommitted }: WritersParts) {
  const parts = { interned: new InternedIds(), keyHash, rules, notify };
  const events = new GroupCommit<EventBatch, EventAppendResult>({
    database,
    prepare: createInternIds(parts, database),
    write: createWriteEvents(parts),
    onCommitted: (durationMs, kept) => onCommitted?.({ durationMs, events: storedIn(kept) }),
    release,
  });
  const decisions = new GroupCommit<Decision, DecisionResult>({
    database,
    write: createWriteDecisions(parts),
    onCommitted: (durationMs) => onCommitted?.({ durationMs, events: 0 }),
    release,
  });
  return { events, decisions, parts };
}

function storedIn(kept: readonly EventAppendResult[]): number {
  return kept.reduce((sum, { ids, duplicates }) => sum + ids.length - duplicates, 0);
}
