/** While a function is paused, or the environment archived, nobody calls it: neither for runs that wait nor for those that go on after a sleep or another call. */

import type { Evidence } from "./evidence.ts";

export function checkPauses(evidence: Evidence, fault: (message: string) => void): void {
  const { journal } = evidence.played;
  for (const { functionId, pausedAt, resumedAt } of journal.pauses) {
    // Of two pauses, the end of the first ends both.
    const others = journal.pauses.filter((other) => other.functionId === functionId);
    const until = Math.min(...others.filter((other) => other.resumedAt > pausedAt).map((other) => other.resumedAt), resumedAt);
    const called = journal.calls.filter(
      (call) =>
        (functionId === null ? !evidence.isElsewhere(call.runId) : call.functionId === functionId) &&
        call.sentAt > pausedAt + evidence.tellingMs &&
        call.sentAt < until,
    );
    for (const { runId, sentAt } of called.slice(0, 3))
      fault(`${functionId ?? "all"}: run ${runId} was called ${sentAt - pausedAt} ms after the function was paused or archived`);
  }
}
