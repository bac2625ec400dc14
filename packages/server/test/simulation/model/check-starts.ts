/**
 * Which runs there are. Without rules about starts: one run for every event that triggers the function, no more and no less. With rules:
 * what each promises, held against when events came and when runs began.
 */

import type { RunDetails, StoredEvent } from "../../../src/store/contract/index.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { dataOf, durationMs, type Evidence, FAILURE_SUFFIX } from "./evidence.ts";
import { limitSpans, mayBeSet } from "./limit-spans.ts";

type Fault = (message: string) => void;
/** The event of a run that a step or somebody invoked. */
export const INVOKED = "inngest/function.invoked";

export function checkStarts(evidence: Evidence, fault: Fault): void {
  const { removedEvents } = evidence.played.journal;
  for (const { atMs: _, ...event } of evidence.played.scenario.events) {
    const stored = evidence.played.events.filter((candidate) => candidate.name === event.name && isSent(candidate, event.n));
    // Sent again when the first was removed, because nobody had told its sender that it was accepted.
    const isRepeated = ({ receivedAt }: StoredEvent, index: number) =>
      index > 0 &&
      (removedEvents.get(stored[index - 1]?.sequence ?? 0)?.since ?? Number.POSITIVE_INFINITY) <= receivedAt + evidence.slackMs;
    if (stored.filter((one, index) => !isRepeated(one, index)).length !== 1)
      fault(`event ${event.n} (${event.name}) is stored ${stored.length} times`);
  }
  for (const fn of evidence.played.scenario.functions) {
    checkFunction(evidence, fn, (message) => fault(`${fullId(fn)}: ${message}`));
    checkFailures(evidence, fn, fault);
  }
}

/** By the scenario, not by a step. */
function isSent(event: StoredEvent, n: number): boolean {
  return dataOf(event).n === n && !event.data.includes('"by":');
}

function checkFunction(evidence: Evidence, fn: SimFunction, fault: Fault): void {
  if (fn.everyMinutes !== undefined) return;
  const all = evidence.runsOf(fullId(fn));
  // Rules about starts are for events: reruns and replays are asked for.
  const runs = all.filter(isFirst);
  const triggering = evidence.played.events.filter((event) => triggers(fn, event));
  const { throttle, rateLimit, debounce, batchEvents, singleton, concurrency } = fn.flow;
  // A throttle counts admissions, and check-throttles.ts checks those without slack. This is about the first calls, which follow at the
  // same rate where nothing else delays them: a limit or a quota, a pause, a key on hold or an app with all its calls in use.
  const { pauses, archives = [], quotas = [], functionLimits = [] } = evidence.played.scenario;
  const isLimited = quotas.some(({ quota }) => quota === "callsAtOnce") || functionLimits.some((limit) => limit.fn === fn.id);
  const isPaused = archives.length > 0 || pauses?.some((pause) => pause.fn === fn.id);
  const isHeldUp = fn.flow.ordering?.onFailure === "hold";
  const isCalledAtOnce = !concurrency && !isLimited && !isPaused && !isHeldUp && !evidence.played.journal.fullApps.has(fn.sdk);
  if (throttle && isCalledAtOnce) checkRate(evidence, all, throttle, throttle.burst ?? 0, (run) => firstCallAt(evidence, run), fault);
  for (const { from, to, rate } of batchEvents ? [] : limitSpans(evidence, fn, "rateLimit")) {
    const within = runs.filter(({ createdAt }) => createdAt > from && createdAt < to);
    checkRate(evidence, within, rate, Math.floor(rate.limit / 10), ({ createdAt }) => createdAt, fault);
  }
  // A run has the time of its event, which may be received before the run before it ends, and stored after that: in real time, or while timers
  // are jumbled.
  const createdAt = (run: RunDetails) => {
    const called = calledAt(evidence, run);
    return evidence.played.scenario.isRealTime ? called : Math.min(called, run.createdAt + evidence.jumbleMs - 1);
  };
  if (singleton?.mode === "skip") checkOverlap(evidence, runs, 1, singleton.key, createdAt, fault);
  // The run that gives way does so a moment later.
  if (singleton?.mode === "cancel") checkOverlap(evidence, runs, 1, singleton.key, ({ createdAt }) => createdAt + evidence.slackMs, fault);
  if (concurrency && !Array.isArray(concurrency) && "fn" in concurrency) {
    const [{ limit, key }] = concurrency.fn;
    checkOverlap(evidence, all, limit, key, (run) => calledAt(evidence, run), fault);
  }
  if (batchEvents) return checkBatches(evidence, runs, triggering, batchEvents.maxSize, fault);
  if (debounce) return checkDebounced(evidence, runs, triggering, debounce.key, fault);
  for (const event of triggering) {
    // By number: what is sent again with its id after retention removed the first is another event.
    const started = runs.filter((run) => run.event?.id === event.id && run.eventSequence === event.sequence).length;
    const isRateLimited = rateLimit !== undefined || mayBeSet(evidence, fn, "rateLimit", event.receivedAt);
    const mayBeDropped = isRateLimited || singleton?.mode === "skip";
    if (started > 1 || (started === 0 && !mayBeDropped)) fault(`event ${dataOf(event).n} started ${started} runs`);
  }
  const strays = runs.filter(({ event }) => event?.name !== INVOKED && !triggering.some(({ id }) => id === event?.id));
  if (strays.length > 0) fault(`${strays.length} runs were started by events that do not trigger it`);
}

function isFirst({ originalRunId, jobId }: RunDetails): boolean {
  return originalRunId === null && jobId === null;
}

export function triggers({ trigger }: SimFunction, event: StoredEvent): boolean {
  return trigger?.event === event.name && (!trigger.onlyOdd || dataOf(event).n % 2 === 1);
}

function firstCallAt(evidence: Evidence, run: RunDetails): number | null {
  return evidence.callsOf(run)[0]?.sentAt ?? null;
}

/** Never, for a run that was not called. */
function calledAt(evidence: Evidence, run: RunDetails): number {
  return firstCallAt(evidence, run) ?? Number.POSITIVE_INFINITY;
}

function keyed(evidence: Evidence, runs: readonly RunDetails[], key: string | undefined): Iterable<RunDetails[]> {
  return Map.groupBy(runs, (run) => (key === undefined ? "" : String(evidence.dataOf(run).k))).values();
}

/** While a write waits for the thread that copies the log, virtual time may pass to the next look of the checkpointer. */
const CHECKPOINT_MS = 250;

/** Between any two of them no more than the burst and one for each interval that passed. */
function checkRate(
  evidence: Evidence,
  runs: readonly RunDetails[],
  { limit, period, key }: { limit: number; period: string; key?: string },
  burst: number,
  startOf: (run: RunDetails) => number | null,
  fault: Fault,
): void {
  const intervalMs = (durationMs(period) ?? 1_000) / limit;
  const slackMs = evidence.jumbleMs + CHECKPOINT_MS;
  // What was admitted when a process went down is called for the first time when another is up, beside what is admitted then.
  const late = evidence.played.scenario.outages.length * (burst + 1);
  for (const group of keyed(evidence, runs, key)) {
    const starts = group.flatMap((run) => startOf(run) ?? []).sort((a, b) => a - b);
    for (let from = 0; from < starts.length; from++) {
      const to = starts.findLastIndex((start) => start < (starts[from] as number) + (durationMs(period) ?? 1_000));
      const allowed = late + burst + 1 + Math.floor(((starts[to] as number) - (starts[from] as number) + slackMs) / intervalMs);
      if (to - from + 1 > allowed) {
        return fault(
          `${to - from + 1} runs started within ${(starts[to] as number) - (starts[from] as number)} ms, where ${limit} each ${period} (burst ${burst}) may`,
        );
      }
    }
  }
}

/** At no time more of them than the limit, from their start to their end. */
function checkOverlap(
  evidence: Evidence,
  runs: readonly RunDetails[],
  limit: number,
  key: string | undefined,
  startOf: (run: RunDetails) => number,
  fault: Fault,
): void {
  for (const group of keyed(evidence, runs, key)) {
    const points = group.flatMap((run) => {
      const start = startOf(run);
      const end = run.endedAt ?? Number.POSITIVE_INFINITY;
      return Number.isFinite(start) && start < end
        ? [
            { at: start, by: 1 },
            { at: end, by: -1 },
          ]
        : [];
    });
    let active = 0;
    for (const { at, by } of points.sort((a, b) => a.at - b.at || a.by - b.by)) {
      active += by;
      if (active > limit) return fault(`${active} runs are active at ${at % 86_400_000}, where ${limit} may be`);
    }
  }
}

/** Every event is in one run, and no run has too many. */
function checkBatches(
  evidence: Evidence,
  runs: readonly RunDetails[],
  triggering: readonly StoredEvent[],
  maxSize: number,
  fault: Fault,
): void {
  const sequences = runs.filter(({ event }) => event?.name !== INVOKED).map((run) => run.eventSequences ?? [run.eventSequence]);
  for (const some of sequences) if (some.length > maxSize) fault(`a run has ${some.length} events, where ${maxSize} may be`);
  const all = sequences.flat();
  const missing = triggering.filter(({ sequence }) => all.filter((other) => other === sequence).length !== 1);
  for (const event of missing.slice(0, 3))
    fault(`event ${dataOf(event).n} is in ${all.filter((other) => other === event.sequence).length} batches`);
  void evidence;
}

/** The last event of a key is not lost, and nothing starts twice. */
function checkDebounced(
  evidence: Evidence,
  runs: readonly RunDetails[],
  triggering: readonly StoredEvent[],
  key: string | undefined,
  fault: Fault,
): void {
  for (const group of Map.groupBy(triggering, (event) => (key === undefined ? "" : String(dataOf(event).k))).values()) {
    const latest = Math.max(...group.map(({ ts }) => ts));
    if (!group.some(({ ts, id }) => ts === latest && runs.some(({ event }) => event?.id === id)))
      fault("the last event of a key started nothing");
  }
  const ids = runs.map(({ event }) => event?.id);
  if (new Set(ids).size !== ids.length) fault("an event that was debounced started two runs");
  void evidence;
}

/** For each run that failed, one run of its onFailure. */
function checkFailures(evidence: Evidence, fn: SimFunction, fault: Fault): void {
  const failed = evidence.runsOf(fullId(fn)).filter(({ status }) => status === "failed");
  const told = evidence.played.events
    .filter(({ name }) => name === (fn.sdk === "v3" || fn.sdk === "v4" ? "inngest/function.failed" : "inlet/function.failed"))
    .map((event) => [event, JSON.parse(event.data) as { run_id: string }] as const);
  // An event that was erased may be run again: what fails then cannot be told from what was erased.
  const isOfErased = (run: RunDetails) => told.some(([{ id }, { run_id }]) => id === run.event?.id && evidence.isErasedRun(run_id));
  const handlers = fn.onFailure ? evidence.runsOf(`${fullId(fn)}${FAILURE_SUFFIX}`).filter((run) => isFirst(run) && !isOfErased(run)) : [];
  for (const run of failed) {
    const events = told.filter(([, { run_id }]) => run_id === run.id);
    if (events.length !== 1) fault(`${evidence.describe(run)} failed, and ${events.length} events tell of it`);
    const handled = handlers.filter(({ event }) => events.some(([{ id }]) => id === event?.id));
    if (fn.onFailure && handled.length !== 1) fault(`${evidence.describe(run)} failed, and its onFailure ran ${handled.length} times`);
  }
  if (handlers.length > failed.length) fault(`${fullId(fn)}: its onFailure ran ${handlers.length} times for ${failed.length} failures`);
}
