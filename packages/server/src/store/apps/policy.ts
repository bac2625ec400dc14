/** What the registration of an app changes. */

import type { EntryNo, FunctionNo } from "@inlet/protocol";
import type { NewFunction } from "../contract/index.ts";

/** A registration that says the same as the last one only notes its time. An app that was removed is registered anew. */
export function isSameRegistration(known: { checksum: string; removedAt: number | null } | null, checksum: string): boolean {
  return known !== null && known.checksum === checksum && known.removedAt === null;
}

/** The queue entry of a schedule. */
export interface ScheduleEntry {
  entryNo: EntryNo;
  functionNo: FunctionNo;
  cron: string;
}

export interface RegisteredFunction {
  functionNo: FunctionNo;
  crons: NewFunction["crons"];
}

export interface ScheduleChanges {
  added: { functionNo: FunctionNo; cron: string; dueAt: number }[];
  removed: EntryNo[];
}

/** `entries`: the schedules of the app before. A schedule that still exists keeps its entry, so a tick that is already due is not lost. */
export function planSchedules(entries: readonly ScheduleEntry[], registered: readonly RegisteredFunction[]): ScheduleChanges {
  const nameOf = ({ functionNo, cron }: { functionNo: FunctionNo; cron: string }) => `${functionNo} ${cron}`;
  const wanted = registered.flatMap(({ functionNo, crons }) => crons.map(({ cron, dueAt }) => ({ functionNo, cron, dueAt })));
  const before = new Set(entries.map(nameOf));
  const after = new Set(wanted.map(nameOf));
  return {
    added: wanted.filter((schedule) => !before.has(nameOf(schedule))),
    removed: entries.filter((entry) => !after.has(nameOf(entry))).map(({ entryNo }) => entryNo),
  };
}
