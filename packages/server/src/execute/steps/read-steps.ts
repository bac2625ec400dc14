/** Processes the step operations of one response and collects the changes. */

import type { StepId } from "@inlet/protocol";
import {
  approvalEventName,
  type FailedAttempt,
  type NewApproval,
  type NewEntry,
  type NewWait,
  type RunChange,
  type RunError,
  type RunState,
  type StepRecord,
  type StepWrite,
  signalEventName,
} from "../../store/contract/index.ts";
import { isInference, readGateway } from "../gateway/read-gateway.ts";
import { type CallFacts, type CallResponseOf, entryOf, failedAttempt } from "./call-response.ts";
import { deferredSteps } from "./deferred.ts";
import {
  endOfSteps,
  errorValue,
  isDeferred,
  isFunctionError,
  isRacing,
  isResult,
  type Operation,
  readError,
  runKind,
  stepTimes,
} from "./operations.ts";
import { completeRun, continueRun, DISCOVERY, failedResult, failRun, restingStatus } from "./run-changes.ts";
import { overLimit } from "./run-limits.ts";
import { readSignal } from "./step-parameters.ts";
import { waitSince } from "./wait-since.ts";

/** Entries that advance the run, now or later. */
const MOVING: ReadonlySet<string> = new Set(["call", "wake", "resume"]);

/** Steps whose code runs in the app. */
const APP_KINDS: ReadonlySet<StepRecord["kind"]> = new Set(["run", "send", "wrap"]);

const NOTHING_TO_DO: RunError = {
  name: "NothingToDo",
  message: "The app returned neither a result nor a new step: check its SDK and any proxy before it.",
};

const STATE_NOT_FETCHED: RunError = {
  name: "StateNotFetched",
  message: "The event and the step results are too large for one call, and the SDK did not fetch them: update it, or send and return less.",
};

export class OperationsReader {
  readonly #state: RunState;
  readonly #response: CallResponseOf<"operations">;
  readonly #facts: CallFacts;
  readonly #steps: StepWrite[] = [];
  readonly #entries: NewEntry[] = [];
  readonly #waits: NewWait[] = [];
  readonly #approvals: NewApproval[] = [];
  readonly #attempts: FailedAttempt[] = [];
  readonly #events: NonNullable<RunChange["events"]>[number][] = [];
  readonly #done = new Set<StepId>();
  /** The function is to be called again even if steps it planned are in progress. */
  #asksAtOnce = false;
  #retry: { retryAt: number; attempt: number } | null = null;
  #fault: RunError | null = null;

  constructor(state: RunState, response: CallResponseOf<"operations">, facts: CallFacts) {
    this.#state = state;
    this.#response = response;
    this.#facts = facts;
  }

  read(): RunChange {
    for (const operation of this.#response.operations) if (!isFunctionError(operation)) this.#take(operation);
    const failedBy = this.#response.operations.find(isFunctionError);
    this.#defer();
    const { endEvents, now } = this.#facts;
    const gathered = { attempts: this.#attempts, steps: this.#steps };
    const fault = this.#fault ?? overLimit(this.#state, this.#steps);
    if (fault) return { ...gathered, ...failRun(this.#state, fault, now, endEvents) };
    const complete = this.#response.operations.find(({ op }) => op === "runcomplete");
    if (complete) return { ...gathered, ...completeRun(this.#withOwnSteps(), complete.data, now, endEvents) };
    const begun = { ...gathered, waits: this.#waits, approvals: this.#approvals, events: this.#events };
    if (failedBy) return { ...begun, ...this.#failFunction(failedBy) };
    if (this.#leavesItsStepOpen()) return { ...begun, ...this.#stuck() };
    return this.#retry ? { ...begun, entries: this.#entries, entry: this.#retry } : { ...begun, ...this.#next() };
  }

  #take(operation: Operation): void {
    const known = this.#state.steps.find(({ id }) => id === operation.id);
    if (known && this.#isUnderWay(known, operation)) return;
    switch (operation.op) {
      case "none":
      case "runcomplete":
      case "deferadd":
      case "deferabort":
        return;
      case "discoveryrequest":
        this.#asksAtOnce = true;
        return;
      case "step":
      case "steprun":
        return this.#finish(operation, "completed", `{"data":${operation.data}}`);
      case "stepfailed":
        return this.#failStep(operation);
      case "steperror":
        return this.#retryStep(operation);
      case "stepplanned":
        return this.#plan(operation);
      case "sleep":
        return this.#sleep(operation);
      case "waitforevent":
        return this.#wait(operation);
      case "waitforsignal":
        return this.#waitForSignal(operation);
      case "waitforapproval":
        return this.#ask(operation);
      case "gateway":
      case "aigateway":
        return this.#request(operation);
      case "invokefunction":
        return this.#invoke(operation);
      default:
        this.#fault = {
          name: "UnsupportedOperation",
          message: `The SDK asked for "${operation.op}", which this service does not support.`,
        };
    }
  }

  #defer(): void {
    const deferred = deferredSteps([...this.#state.steps, ...this.#steps], this.#response.operations.filter(isDeferred), this.#facts.now);
    if (typeof deferred === "string") this.#fault ??= { name: "InvalidStep", message: `A function cannot be deferred: ${deferred}` };
    else this.#steps.push(...deferred);
  }

  /** The state at the end of the run. */
  #withOwnSteps(): RunState {
    const own = this.#steps.map((step): StepRecord => ({ ...step, position: 0, donePosition: null }));
    const others = this.#state.steps.filter(({ id }) => !own.some((step) => step.id === id));
    return { ...this.#state, steps: [...others, ...own] };
  }

  /** The function itself failed, and its response also contains deferred functions. */
  #failFunction(operation: Operation): RunChange {
    const { attempt, stepId } = entryOf(this.#state, this.#facts);
    const { retries, retryAt, now, endEvents } = this.#facts;
    const error = readError(operation.error, "The function failed.");
    const attempts = [...this.#attempts, failedAttempt(stepId, attempt, this.#facts, error, null)];
    if (operation.op === "steperror" && this.#response.mayRetry && attempt < retries) {
      return { attempts, entry: { retryAt: retryAt(attempt, this.#response.retryAfterMs), attempt: attempt + 1 } };
    }
    return { attempts, ...failRun(this.#withOwnSteps(), error, now, endEvents, operation.error) };
  }

  /** Steps in progress are reported again on every call of the function; only a result is new. */
  #isUnderWay({ id, endedAt, status }: StepRecord, operation: Operation): boolean {
    if (endedAt !== null) return true;
    if (isResult(operation) || operation.op === "steperror") return false;
    // A step that failed where it was found, and is now to be run in its own call.
    const isToBePlanned = status === "running" && operation.op === "stepplanned";
    return !isToBePlanned || this.#state.entries.some(({ kind, stepId }) => kind === "call" && stepId === id);
  }

  #finish(operation: Operation, status: "completed" | "failed", value: string): void {
    const attempt = this.#attemptOf(operation);
    const call = { from: this.#beganAfter(), to: this.#facts.endedAt };
    this.#write(operation, { status, value, ...stepTimes(operation, call), attempts: attempt + 1 });
    this.#done.add(operation.id);
    this.#asksAtOnce ||= isRacing(operation);
  }

  /** A call for a planned step runs beside others. In any other call, steps run one after the other, and an SDK may have reported some. */
  #beganAfter(): number {
    const { startedAt, endedAt, isPlanning } = this.#facts;
    if (isPlanning || entryOf(this.#state, this.#facts).stepId !== null) return startedAt;
    const reported = [...this.#state.steps, ...this.#steps].filter(({ kind }) => APP_KINDS.has(kind));
    return Math.min(endOfSteps(reported, startedAt), endedAt);
  }

  #failStep(operation: Operation): void {
    this.#noteFailure(operation);
    this.#finish(operation, "failed", errorValue(operation));
  }

  #retryStep(operation: Operation): void {
    const attempt = this.#attemptOf(operation);
    if (!this.#response.mayRetry || attempt >= this.#facts.retries) return this.#failStep(operation);
    this.#noteFailure(operation);
    const isPlanned = this.#state.steps.some(({ id, status }) => id === operation.id && status === "planned");
    this.#write(operation, { status: isPlanned ? "planned" : "running", attempts: attempt + 1 });
    this.#retry = { retryAt: this.#facts.retryAt(attempt, this.#response.retryAfterMs), attempt: attempt + 1 };
  }

  #noteFailure(operation: Operation): void {
    const error = readError(operation.error, "The step failed.");
    this.#attempts.push(failedAttempt(operation.id, this.#attemptOf(operation), this.#facts, error, null));
  }

  /**
   * Attempts are counted per step. The entry of a step's own call counts them; that of the function counts failures of the function, too.
   * A step whose id is new in each call continues the count of the one that failed before: its retries come to an end.
   */
  #attemptOf({ id }: Operation): number {
    const { attempt, stepId } = entryOf(this.#state, this.#facts);
    if (stepId !== null) return attempt;
    const { steps } = this.#state;
    const known = steps.find((step) => step.id === id);
    const failing = steps.filter(({ kind, status }) => APP_KINDS.has(kind) && status === "running");
    return known?.attempts ?? Math.max(0, ...failing.map(({ attempts }) => attempts));
  }

  #plan(operation: Operation): void {
    this.#write(operation, { status: "planned", attempts: 0 });
    this.#entries.push({ kind: "call", stepId: operation.id });
  }

  #sleep(operation: Operation): void {
    const until = this.#facts.sleepUntil(operation);
    if (typeof until === "string") return this.#refuse(operation, until);
    this.#write(operation, { kind: "sleep", status: "sleeping", until });
    this.#entries.push({ kind: "wake", stepId: operation.id, dueAt: until });
  }

  #wait(operation: Operation): void {
    const { run, steps } = this.#state;
    const { startedAt, stepsGiven, isPlanning } = this.#facts;
    const since = waitSince({ run, steps, ownSteps: this.#steps, stepsGiven, isPlanning, startedAt });
    const wait = this.#facts.wait(operation, this.#state, since);
    if (typeof wait === "string") return this.#refuse(operation, wait);
    this.#write(operation, { kind: "wait", status: "waiting", until: wait.expiresAt, detail: wait.eventName });
    this.#waits.push(wait);
    this.#entries.push({ kind: "resume", stepId: operation.id, dueAt: wait.expiresAt });
  }

  #waitForSignal(operation: Operation): void {
    const fields = readSignal(operation, this.#facts.now);
    if (typeof fields === "string") return this.#refuse(operation, fields);
    const { signal, expiresAt, onConflict } = fields;
    this.#write(operation, { kind: "signal", status: "waiting", until: expiresAt, detail: signal });
    const wait = { eventName: signalEventName(signal), expression: null, match: null, stepId: operation.id, expiresAt };
    this.#waits.push({ kind: "signal", ...wait, since: this.#facts.now, onConflict });
    this.#entries.push({ kind: "resume", stepId: operation.id, dueAt: expiresAt });
  }

  /** A person decides. The wait has a name that no signal has. */
  #ask(operation: Operation): void {
    const asked = this.#facts.ask(operation, this.#state);
    if (typeof asked === "string") return this.#refuse(operation, asked);
    const { id, expiresAt } = asked.approval;
    this.#write(operation, { kind: "approval", status: "waiting", until: expiresAt, detail: id });
    const wait = { eventName: approvalEventName(id), expression: null, match: null, stepId: operation.id, expiresAt };
    this.#waits.push({ kind: "signal", ...wait, since: this.#facts.now, onConflict: "fail" });
    this.#approvals.push(asked.approval);
    this.#events.push(...asked.events);
    this.#entries.push({ kind: "resume", stepId: operation.id, dueAt: expiresAt });
  }

  /** The service makes the request, in the same way as it calls apps for steps. */
  #request(operation: Operation): void {
    const request = readGateway(operation);
    if (typeof request === "string") return this.#refuse(operation, request);
    const kind = isInference(operation) ? "infer" : "fetch";
    const detail = JSON.stringify({ ...request, races: isRacing(operation) });
    this.#write(operation, { kind, status: "planned", attempts: 0, detail });
    this.#entries.push({ kind: "call", stepId: operation.id });
  }

  #invoke(operation: Operation): void {
    const invocation = this.#facts.invoke(operation, this.#state);
    if (typeof invocation === "string") {
      const failed = failedResult({ name: "InvocationError", message: invocation });
      this.#write(operation, { kind: "invoke", ...failed, endedAt: this.#facts.now });
      this.#done.add(operation.id);
      return;
    }
    const { childRunId, eventId, expiresAt, events } = invocation;
    this.#write(operation, { kind: "invoke", status: "waiting", until: expiresAt, detail: childRunId, eventId });
    this.#events.push(...events);
    this.#entries.push({ kind: "resume", stepId: operation.id, dueAt: expiresAt });
  }

  #refuse({ displayName }: Operation, why: string): void {
    this.#fault = { name: "InvalidStep", message: `The step "${displayName}" cannot be run: ${why}` };
  }

  #write(operation: Operation, change: Partial<StepWrite>): void {
    const startedAt = this.#beganAfter();
    const { id, displayName } = operation;
    const fresh = {
      kind: runKind(operation),
      status: "running",
      startedAt,
      endedAt: null,
      attempts: 1,
      until: null,
      detail: null,
    } as const;
    this.#steps.push({ id, name: displayName, ...fresh, ...change });
  }

  /** After a step has ended, the function is called again; after operations that only start something it is not. */
  #next(): RunChange {
    const plannedNow = this.#steps.filter(({ status }) => status === "planned").length;
    const isProgress = this.#done.size > 0 || this.#entries.length > 0 || this.#isOutdated();
    if (this.#done.size > 0 || (this.#asksAtOnce && isProgress)) {
      const change = continueRun(this.#state, { done: this.#done, added: this.#entries, plannedNow, asksAtOnce: this.#asksAtOnce });
      return { ...change, isParallel: plannedNow > 1 || change.isParallel === true };
    }
    if (this.#entries.length === 0 && !this.#othersAreUnderWay()) {
      return this.#isOutdated() ? { entries: [DISCOVERY], status: "running" } : this.#stuck();
    }
    const isCalled = this.#entries.some(({ kind }) => kind === "call") || this.#othersAreCalled();
    const isParallel = this.#response.operations.filter((operation) => !isDeferred(operation)).length > 1 || this.#state.run.isParallel;
    const status = isCalled ? "running" : restingStatus([...this.#state.steps, ...this.#steps]);
    return { entries: this.#entries, isParallel, status };
  }

  #othersAreCalled(): boolean {
    return this.#state.entries.some(({ kind, no }) => kind === "call" && no !== this.#facts.entry.no);
  }

  /** Everything that advances the run has an entry. */
  #othersAreUnderWay(): boolean {
    return this.#state.entries.some(({ kind, no }) => no !== this.#facts.entry.no && MOVING.has(kind));
  }

  /** The call was for one planned step, and returned neither its end nor its error. */
  #leavesItsStepOpen(): boolean {
    const { stepId } = entryOf(this.#state, this.#facts);
    if (stepId === null || this.#retry || this.#done.has(stepId)) return false;
    return this.#state.steps.some(({ id, endedAt }) => id === stepId && endedAt === null);
  }

  /** Steps ended during the call, without the app knowing: it is called again. */
  #isOutdated(): boolean {
    return this.#state.steps.filter(({ endedAt }) => endedAt !== null).length > this.#facts.stepsGiven;
  }

  /** The function neither ended nor requested anything new: it is called again, as often as after a failure. */
  #stuck(): RunChange {
    const { attempt, stepId } = entryOf(this.#state, this.#facts);
    const { fetchesState, retries, retryAt, now, endEvents } = this.#facts;
    const error = fetchesState ? STATE_NOT_FETCHED : NOTHING_TO_DO;
    const attempts = [...this.#attempts, failedAttempt(stepId, attempt, this.#facts, error, null)];
    const retry = { retryAt: retryAt(attempt, null), attempt: attempt + 1 };
    if (attempt < retries && !fetchesState) return { attempts, entries: this.#entries, entry: retry };
    return { attempts, ...failRun(this.#state, error, now, endEvents) };
  }
}
