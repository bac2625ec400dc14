/**
 * Every run has ended, and as its stored steps imply: its code, run on them, returns its output or throws its error. Each stored step is
 * one that the code asks for, with the only result it could have.
 */

import { type RunDetails, SIGNAL_TAKEN, type StoredEvent } from "../../../src/store/contract/index.ts";
import { bodyError, bodyValue } from "../interpret.ts";
import type { RunCode } from "../scenario.ts";
import { checkAsked } from "./check-approvals.ts";
import { checkRetriesUsed } from "./check-bodies.ts";
import { isCancelledInBulk } from "./check-cancellations.ts";
import { isCancelledByJob } from "./check-jobs.ts";
import { checkRequest } from "./check-requests.ts";
import { isLostWithApp } from "./check-schedules.ts";
import { checkConflict, checkSignal } from "./check-signals.ts";
import { checkWait } from "./check-waits.ts";
import { type Evidence, FAILURE_SUFFIX, hashOf } from "./evidence.ts";
import { type Demand, type KeptStep, type Replay, replay } from "./replay.ts";

type Fault = (message: string) => void;
type StepDetails = RunDetails["steps"][number];

export async function checkRuns(evidence: Evidence, fault: Fault): Promise<void> {
  const { runs } = evidence.played;
  await Promise.all(
    runs.map((run) => {
      const told = (message: string) => fault(`${evidence.describe(run)} ${message}`);
      if (run.endedAt === null) return told(`has not ended: it is ${run.status}`);
      return checkRun(evidence, run, told);
    }),
  );
}

async function checkRun(evidence: Evidence, run: RunDetails, fault: Fault): Promise<void> {
  const code = evidence.codeOf(run);
  const kept = keptSteps(run);
  // A response that may have been lost with its process may have been written as well: the run says so by having ended.
  const ending = evidence.callsOf(run).findLast(({ status }) => status !== null);
  const replayed = await replay(code, kept, ending?.attempt ?? 0);
  checkEnd(evidence, run, replayed, fault);
  checkDeferred(evidence, run, replayed, fault);
  const byHash = new Map([...replayed.demands.values()].map((demand) => [hashOf(demand.name), demand]));
  for (const step of run.steps) {
    const demand = byHash.get(step.id);
    if (evidence.isGiven(run, step)) continue;
    if (demand) checkStep(evidence, run, step, demand, { ...replayed, fault });
    else if (run.status === "completed") fault(`holds the step ${step.name} (${step.status}), which its code does not come to`);
  }
}

/** In the order in which they were kept: that of the last call they were given to, then those that came later. */
export function keptSteps(run: RunDetails): KeptStep[] {
  const given = run.calls.reduce<readonly string[]>((most, { stepsGiven }) => (stepsGiven.length > most.length ? stepsGiven : most), []);
  const rank = (id: string) => (given.includes(id) ? given.indexOf(id) : given.length);
  return run.steps
    .filter(({ endedAt }) => endedAt !== null)
    .sort((a, b) => rank(a.id) - rank(b.id) || (a.endedAt ?? 0) - (b.endedAt ?? 0) || a.position - b.position)
    .map((step) => ({
      name: nameOf(step),
      status: step.status as KeptStep["status"],
      value: step.value ?? "null",
      endedAt: step.endedAt as number,
    }));
}

/** SDKs tell equal ids apart in the hash only. */
function nameOf({ id, name }: StepDetails): string {
  if (hashOf(name) === id) return name;
  for (let index = 1; index < 50; index++) if (hashOf(`${name}:${index}`) === id) return `${name}:${index}`;
  return name;
}

function checkEnd(evidence: Evidence, run: RunDetails, { end }: Replay, fault: Fault): void {
  const { status, output, error } = run;
  if (status === "cancelled") return checkCancelled(evidence, run, fault);
  if (status === "completed") {
    if (end.kind !== "returned") return fault(`completed with ${output}, but its steps lead to: ${JSON.stringify(end)}`);
    const expected = JSON.stringify(end.value);
    return output === expected ? undefined : fault(`returned ${output}, but its steps lead to ${expected}`);
  }
  if (end.kind === "threw" && end.message === error?.message) return;
  if (isLostWithApp(evidence, run)) return;
  if (error?.name === SIGNAL_TAKEN.name) return checkConflict(evidence, run, fault);
  const lost = evidence
    .callsOf(run)
    .some(({ fate, attempt }) => ["lost", "cut", "hung"].includes(fate) && attempt >= evidence.retriesOf(run));
  if (error?.name === "NoResponse" && lost) return;
  fault(`failed with ${error?.name}: ${error?.message}, but its steps lead to: ${JSON.stringify(end)}`);
}

/** What a run defers starts once, when it has ended. What a call deferred whose response was lost may never be known of. */
function checkDeferred(evidence: Evidence, run: RunDetails, { deferred }: Replay, fault: Fault): void {
  const started = evidence.deferredBy(run);
  const isSure = run.status === "completed";
  if (started.length > deferred || (isSure && started.length < deferred))
    fault(`deferred ${deferred} functions, and ${started.length} were started`);
  for (const later of started)
    if (later.createdAt + evidence.jumbleMs < (run.endedAt ?? 0))
      fault(`had not ended when what it deferred was started, ${(run.endedAt ?? 0) - later.createdAt} ms before`);
}

/** Something must have cancelled it. */
function checkCancelled(evidence: Evidence, run: RunDetails, fault: Fault): void {
  const fn = evidence.functionOf(run);
  if (fn?.flow.singleton?.mode === "cancel" || fn?.flow.timeouts) return;
  if (isCancelledByJob(evidence, run) || isCancelledInBulk(evidence, run)) return;
  const { cancelOn } = fn ?? {};
  const { k } = evidence.dataOf(run);
  const isFirst = run.originalRunId === null && run.jobId === null;
  const cause = evidence.played.events.some(
    (event) =>
      event.name === cancelOn?.event &&
      // Events have an order. A rerun has none with an event that is being stored at the time.
      (isFirst ? event.sequence > run.eventSequence : evidence.isStoredAfter(event, run.createdAt)) &&
      event.receivedAt <= (run.endedAt ?? 0) &&
      (cancelOn.by === "any" || (JSON.parse(event.data) as { k: number }).k === k),
  );
  if (!cause) fault(`was cancelled by nothing: ${run.error?.message}`);
}

function checkStep(
  evidence: Evidence,
  run: RunDetails,
  step: StepDetails,
  demand: Demand,
  { demands, fault }: Replay & { fault: Fault },
): void {
  const { code } = demand;
  if (step.endedAt === null) return;
  const told = (message: string) => fault(`${message} (step ${demand.name}: ${step.status} ${step.value})`);
  if (code.kind === "run") return checkRunStep(evidence, run, step, { ...demand, code }, told);
  if (code.kind === "sleep") {
    const isWoken = evidence.played.journal.woken.has(`${run.id}/${step.id}`);
    if (!isWoken && step.endedAt < step.startedAt + code.ms) told(`woke ${step.startedAt + code.ms - step.endedAt} ms too early`);
  } else if (code.kind === "wait") checkWait(evidence, run, step, { ...demand, code }, demands, told);
  else if (code.kind === "invoke") checkInvocation(evidence, run, step, told);
  else if (code.kind === "signal") checkSignal(evidence, run, step, code, told);
  else if (code.kind === "ask") checkAsked(evidence, run, step, told);
  else if (code.kind === "fetch") checkRequest(evidence, run, step, { ...demand, code }, told);
  else if (code.kind === "send" && step.status === "completed") checkSent(evidence, run, demand.name, code.event, told);
}

function checkRunStep(
  evidence: Evidence,
  run: RunDetails,
  step: StepDetails,
  { code, name }: Demand & { code: RunCode },
  fault: Fault,
): void {
  const isFailureCode = evidence.functionId(run).endsWith(FAILURE_SUFFIX);
  const n = isFailureCode ? 0 : evidence.dataOf(run).n;
  const mustFail = code.fails > 0 && (code.error === "final" || code.fails > evidence.retriesOf(run));
  // A call that got lost may have been the one in which it would have failed for good.
  const mayPass = code.error === "final" && evidence.callsOf(run).some(({ fate, wasDoubled }) => fate !== "answered" || wasDoubled);
  if (step.status === "completed") {
    if (mustFail && !mayPass) fault("a step completed that always fails");
    if (step.value !== JSON.stringify({ data: bodyValue(code, n) })) fault("a step has a result that its body does not return");
  } else if (!mustFail) fault("a step failed that succeeds within its retries");
  else if ((JSON.parse(step.value ?? "{}") as { error?: { message?: string } }).error?.message !== bodyError(code, n))
    fault("a step failed otherwise");
  else if (code.error !== "final") checkRetriesUsed(evidence, run, { id: step.id, name }, fault);
}

/** What the invoked run came to is what the step holds. */
function checkInvocation(evidence: Evidence, run: RunDetails, step: StepDetails, fault: Fault): void {
  const child = step.detail === null ? undefined : evidence.runWithId(step.detail);
  const parsed = JSON.parse(step.value ?? "null") as { data?: unknown; error?: { name: string; message: string } };
  if (step.status === "failed") {
    const { name, message } = parsed.error ?? { name: "?", message: "?" };
    if (name === "InvocationTimeout" || name === "InvocationRefused") return;
    if (child && child.error?.message !== message) fault(`the run invoked ended with ${JSON.stringify(child.error)}`);
  } else if (child && JSON.stringify(parsed.data) !== JSON.stringify(JSON.parse(child.output ?? "null"))) {
    fault(`the run invoked returned ${child.output}`);
  }
  if (child && child.invoker?.runNo !== run.no) fault("the run invoked does not know who invoked it");
}

function checkSent(evidence: Evidence, run: RunDetails, name: string, event: string, fault: Fault): void {
  const mark = `${evidence.functionId(run)} ${run.id} ${name}"`;
  const stored = evidence.played.events.filter((candidate) => candidate.name === event && candidate.data.includes(mark));
  // An event is known by its id as long as it is there: what is sent again after that is another one.
  const { removedEvents, storedLastAt } = evidence.played.journal;
  const goneAt = ({ sequence }: StoredEvent) => removedEvents.get(sequence)?.since ?? Number.POSITIVE_INFINITY;
  const storedBy = ({ id, receivedAt }: StoredEvent) => Math.max(storedLastAt.get(id) ?? receivedAt, receivedAt);
  const isOther = (one: StoredEvent) => stored.some((before) => before.sequence < one.sequence && goneAt(before) <= storedBy(one));
  const sent = stored.filter((one) => !isOther(one));
  if (sent.length !== 1) fault(`${sent.length} events were stored by a step that sends one`);
}
