/** Events in SQLite: appended by the writer, read on the read thread. */

import type { EventAppendResult, EventBatch, EventStore } from "../../contract/index.ts";
import type { CommitEffects } from "../../sqlite/commit-effects.ts";
import type { GroupCommit } from "../../sqlite/group-commit.ts";
import type { Reader } from "../../sqlite/reader.ts";
import type { AppendEvents } from "./append-events.ts";

export interface EventStoreParts {
  events: Pick<AppendEvents, "append" | "countNew">;
  writer: GroupCommit;
  reader: Reader;
  effects: CommitEffects;
}

export function eventStore({ events, writer, reader, effects }: EventStoreParts): EventStore {
  function append(batch: EventBatch): EventAppendResult {
    const kept = events.append(batch);
    effects.noteEvents(kept.ids.length - kept.duplicates);
    return kept;
  }

  return {
    eventAppend: (batch) => writer.submit(() => append(batch), batch.events.length),
    eventCountNew: (batch) => writer.submit(() => events.countNew(batch)),
    eventGet: (params) => reader.read("eventGet", params),
    eventList: (params) => reader.read("eventList", params),
    eventCountUnmatched: (params) => reader.read("eventCountUnmatched", params),
    eventFollow: (params) => reader.read("eventFollow", params),
    eventSequence: (params) => reader.read("eventSequence", params),
    eventSequenceBefore: (params) => reader.read("eventSequenceBefore", params),
    eventWatch: (listener) => effects.watch(listener),
  };
}
