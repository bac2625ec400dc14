/** Events in PostgreSQL: appended in groups, read in statements of their own. */

import type { CompileWhere, EventAppendResult, EventBatch, EventStore } from "../../contract/index.ts";
import type { KeyHash } from "../../dedup-keys/policy.ts";
import type { Database } from "../../postgres/database.ts";
import type { GroupCommit } from "../../postgres/group-commit.ts";
import { countNew } from "./count-new.ts";
import { countUnmatched } from "./count-unmatched.ts";
import { followEvents, getEvent, sequenceBefore } from "./follow-events.ts";
import { listEvents } from "./list-events.ts";
import { settledSequence } from "./settled-sequence.ts";

export interface EventStoreParts {
  database: Database;
  writer: GroupCommit<EventBatch, EventAppendResult>;
  keyHash: KeyHash;
  watch: EventStore["eventWatch"];
  compileWhere: CompileWhere;
}

export function eventStore({ database, writer, keyHash, watch, compileWhere }: EventStoreParts): EventStore {
  return {
    eventAppend: (batch) => writer.submit(batch, { environmentId: batch.environmentId, rows: batch.events.length, keys: [] }),
    eventCountNew: (batch) => countNew(database, keyHash, batch),
    eventGet: (params) => getEvent(database, params),
    eventList: (params) => listEvents(database, params, compileWhere),
    eventCountUnmatched: (params) => countUnmatched(database, params),
    eventFollow: (params) => followEvents(database, params),
    eventSequence: () => settledSequence(database),
    eventSequenceBefore: (params) => sequenceBefore(database, params),
    eventWatch: watch,
  };
}
