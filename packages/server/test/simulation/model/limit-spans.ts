/** Which limit on starts a function has when: that of its app, or one that was set without a deploy. */

import type { LimitedRule } from "../deeds/deeds.ts";
import type { FunctionLimitNote } from "../journal-notes.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import type { Evidence } from "./evidence.ts";

type Rate = { limit: number; period: string; burst?: number; key?: string };

/** Between `from` and `to`, exclusive, every node goes by this rate. `isSet`: it was set without a deploy. */
export interface LimitSpan {
  from: number;
  to: number;
  rate: Rate;
  isSet: boolean;
}

/** Spans in which one limit holds everywhere: those in which it is being changed are left out. */
export function limitSpans(evidence: Evidence, fn: SimFunction, rule: Exclude<LimitedRule, "concurrency">): LimitSpan[] {
  const registered = fn.flow[rule];
  const changes = changesOf(evidence, fn, rule);
  const spans: LimitSpan[] = [];
  let from = Number.NEGATIVE_INFINITY;
  for (const { askedAt, setAt, endAskedAt, endedAt, limit, period } of changes) {
    if (registered) spans.push({ from, to: askedAt, rate: registered, isSet: false });
    const set = { ...registered, limit, period };
    spans.push({ from: setAt + evidence.tellingMs, to: endAskedAt, rate: set, isSet: true });
    from = endedAt + evidence.tellingMs;
  }
  if (registered) spans.push({ from, to: Number.POSITIVE_INFINITY, rate: registered, isSet: false });
  return spans.filter((span) => span.from < span.to);
}

/** Whether the function may have this limit at that time, because it was set without a deploy. What follows from an event may take a while. */
export function mayBeSet(evidence: Evidence, fn: SimFunction, rule: LimitedRule, at: number): boolean {
  return changesOf(evidence, fn, rule).some(
    ({ askedAt, endedAt }) => askedAt - evidence.slackMs <= at && at <= endedAt + evidence.tellingMs + evidence.slackMs,
  );
}

function changesOf({ played: { journal } }: Evidence, fn: SimFunction, rule: LimitedRule): FunctionLimitNote[] {
  const isOf = (note: FunctionLimitNote) => note.functionId === fullId(fn) && note.rule === rule;
  return journal.functionLimits.filter(isOf).sort((a, b) => a.askedAt - b.askedAt);
}
