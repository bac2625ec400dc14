/**
 * Runs are admitted no faster than their throttle says, whichever node admits them and however long they wait for their first call. What starts
 * while a throttle is set without a deploy was admitted by it.
 */

import { fullId, type SimFunction } from "../scenario.ts";
import { durationMs, type Evidence } from "./evidence.ts";
import { type LimitSpan, limitSpans, mayBeSet } from "./limit-spans.ts";

type Fault = (message: string) => void;

interface Admitted {
  at: number;
  count: number;
}

export function checkThrottles(evidence: Evidence, fault: Fault): void {
  const { journal, functionIds, scenario } = evidence.played;
  for (const [key, admissions] of journal.admissions) {
    const id = functionIds.get(Number(key.split("/")[0])) ?? "";
    const fn = scenario.functions.find((one) => fullId(one) === id);
    const stray = fn?.flow.throttle ? undefined : admissions.find(({ at }) => !fn || !mayBeSet(evidence, fn, "throttle", at));
    if (stray) fault(`${id}: runs were admitted by a throttle that it does not have`);
    else if (fn) for (const span of limitSpans(evidence, fn, "throttle")) checkSpan(span, admissions, (what) => fault(`${id}: ${what}`));
  }
  for (const fn of scenario.functions) checkAdmitted(evidence, fn, fault);
}

function checkSpan({ from, to, rate }: LimitSpan, admissions: readonly Admitted[], fault: Fault): void {
  const { limit, period, burst = 0 } = rate;
  const periodMs = durationMs(period) ?? 1_000;
  const within = admissions.filter(({ at }) => at > from && at < to);
  const starts = within.flatMap(({ at, count }) => Array.from({ length: count }, () => at)).sort((a, b) => a - b);
  const tooMany = starts.flatMap((first, index) => {
    const last = starts.findLastIndex((start) => start < first + periodMs);
    const passedMs = (starts[last] as number) - first;
    // A millisecond, since intervals are rounded to whole ones.
    const allowed = burst + 1 + Math.floor(((passedMs + 1) * limit) / periodMs);
    return last - index + 1 > allowed ? [`${last - index + 1} runs were admitted within ${passedMs} ms`] : [];
  })[0];
  if (tooMany) fault(`${tooMany}, where ${limit} each ${period} (burst ${burst}) may`);
}

/** Whoever admits a run and dies has told nobody: this is for those that live. */
function checkAdmitted(evidence: Evidence, fn: SimFunction, fault: Fault): void {
  const { journal, functionIds, scenario } = evidence.played;
  if (scenario.outages.length + scenario.refusals.length > 0 || scenario.connectionCuts) return;
  const isOf = (key: string) => functionIds.get(Number(key.split("/")[0])) === fullId(fn);
  const admissions = [...journal.admissions].filter(([key]) => isOf(key)).flatMap(([, some]) => some);
  for (const { from, to, isSet } of limitSpans(evidence, fn, "throttle")) {
    if (!isSet) continue;
    const admitted = admissions.filter(({ at }) => at > from && at < to).reduce((sum, { count }) => sum + count, 0);
    const isStarted = (sentAt: number | undefined) => sentAt !== undefined && sentAt < to;
    const begun = evidence.runsOf(fullId(fn)).filter((run) => run.createdAt > from && isStarted(evidence.callsOf(run)[0]?.sentAt)).length;
    if (begun > admitted) fault(`${fullId(fn)}: ${begun} runs started while a throttle was set, which admitted ${admitted}`);
  }
}
