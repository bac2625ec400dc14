/** What follows from an app's answer: a pure function of the run's state and of what came back. */

import type { StepId } from "@inlet/protocol";
import type {
  EntryRecord,
  FailedAttempt,
  NewEntry,
  NewWait,
  RunChange,
  RunError,
  RunState,
  StepWrite,
} from "../../store/contract/index.ts";
import { type Operation, readError } from "./operations.ts";
import { completeRun, DISCOVERY, type EndEvents, failRun, goOn, restingStatus } from "./run-changes.ts";

export type Answer =
  | { kind: "finished"; output: string }
  | { kind: "operations"; operations: readonly Operation[]; mayRetry: boolean; retryAfterMs: number | null }
  | { kind: "failed"; error: RunError; mayRetry: boolean; retryAfterMs: number | null; httpStatus: number | null; body: string | null };

/** What the deciding functions need to know beside the state. */
export interface CallFacts {
  entry: Pick<EntryRecord, "no">;
  startedAt: number;
  now: number;
  requestVersion: number;
  /** How often a step, or the function, is tried again. */
  retries: number;
  retryAt(attempt: number, retryAfterMs: number | null): number;
  endEvents: EndEvents;
  /** Reads a sleep's or wait's parameters; a message when they make no sense. */
  sleepUntil(operation: Operation): number | string;
  wait(operation: Operation, state: RunState): NewWait | string;
  invoke(operation: Operation, state: RunState): Invocation | string;
}

export interface Invocation {
  childRunId: string;
  expiresAt: number;
  events: NonNullable<RunChange["events"]>;
}

export const STEPS_MAX = 1_000;
export const STATE_BYTES_MAX = 32 * 1024 * 1024;

export function decideAnswer(state: RunState, answer: Answer, facts: CallFacts): RunChange {
  const begun = { startedAt: state.run.startedAt ?? facts.startedAt, requestVersion: facts.requestVersion };
  return { ...begun, ...decide(state, answer, facts) };
}

function decide(state: RunState, answer: Answer, facts: CallFacts): RunChange {
  if (answer.kind === "finished") return completeRun(state, answer.output, facts.now, facts.endEvents);
  if (answer.kind === "failed") return decideFailure(state, answer, facts);
  const complete = answer.operations.find(({ op }) => op === "runcomplete");
  if (complete) return completeRun(state, complete.data, facts.now, facts.endEvents);
  return new AnswerReader(state, answer, facts).read();
}

/** The function itself failed, or could not be reached. */
function decideFailure(state: RunState, answer: Extract<Answer, { kind: "failed" }>, facts: CallFacts): RunChange {
  const { attempt, stepId } = entryOf(state, facts);
  const attempts = [failedAttempt(stepId, attempt, facts, answer.error, answer.httpStatus)];
  if (answer.mayRetry && attempt < facts.retries) {
    return { attempts, entry: { retryAt: facts.retryAt(attempt, answer.retryAfterMs), attempt: attempt + 1 } };
  }
  return { attempts, ...failRun(state, answer.error, facts.now, facts.endEvents, answer.body) };
}

function entryOf(state: RunState, { entry }: CallFacts): EntryRecord {
  const found = state.entries.find(({ no }) => no === entry.no);
  if (!found) throw new Error("an answer was decided on without its entry");
  return found;
}

function failedAttempt(
  stepId: StepId | null,
  attempt: number,
  { startedAt, now }: CallFacts,
  error: RunError,
  httpStatus: number | null,
): FailedAttempt {
  return { stepId, attempt, startedAt, endedAt: now, httpStatus, error };
}

/** Goes through the operations of one answer and gathers what they change. */
class AnswerReader {
  readonly #state: RunState;
  readonly #answer: Extract<Answer, { kind: "operations" }>;
  readonly #facts: CallFacts;
  readonly #steps: StepWrite[] = [];
  readonly #entries: NewEntry[] = [];
  readonly #waits: NewWait[] = [];
  readonly #attempts: FailedAttempt[] = [];
  readonly #events: NonNullable<RunChange["events"]>[number][] = [];
  readonly #done = new Set<StepId>();
  #retry: { retryAt: number; attempt: number } | null = null;
  #fault: RunError | null = null;

  constructor(state: RunState, answer: Extract<Answer, { kind: "operations" }>, facts: CallFacts) {
    this.#state = state;
    this.#answer = answer;
    this.#facts = facts;
  }

  read(): RunChange {
    for (const operation of this.#answer.operations) this.#take(operation);
    const { endEvents, now } = this.#facts;
    const fault = this.#fault ?? this.#overLimit();
    const gathered = { attempts: this.#attempts, steps: this.#steps };
    if (fault) return { ...gathered, ...failRun(this.#state, fault, now, endEvents) };
    if (this.#retry) return { ...gathered, entry: this.#retry };
    return { ...gathered, waits: this.#waits, events: this.#events, ...this.#next() };
  }

  #take(operation: Operation): void {
    const known = this.#state.steps.find(({ id }) => id === operation.id);
    // Known steps are reported again whenever the function is called while they are under way.
    if (known && (known.endedAt !== null || known.status !== "planned")) {
      if (known.endedAt !== null || !["step", "steprun", "steperror", "stepfailed"].includes(operation.op)) return;
    }
    switch (operation.op) {
      case "none":
        return;
      case "step":
      case "steprun":
        return this.#finish(operation, "completed", `{"data":${operation.data}}`);
      case "stepfailed":
        return this.#failStep(operation);
      case "steperror":
        return this.#retryStep(operation);
      case "stepplanned":
        return known ? undefined : this.#plan(operation);
      case "sleep":
        return this.#sleep(operation);
      case "waitforevent":
        return this.#wait(operation);
      case "invokefunction":
        return this.#invoke(operation);
      default:
        this.#fault = { name: "UnsupportedOperation", message: `The SDK asked for "${operation.op}", which this service does not know.` };
    }
  }

  #finish(operation: Operation, status: "completed" | "failed", value: string): void {
    const { attempt } = entryOf(this.#state, this.#facts);
    this.#write(operation, { status, value, endedAt: this.#facts.now, attempts: attempt + 1 });
    this.#done.add(operation.id);
  }

  #failStep(operation: Operation): void {
    const { attempt } = entryOf(this.#state, this.#facts);
    this.#attempts.push(failedAttempt(operation.id, attempt, this.#facts, readError(operation.error, "The step failed."), null));
    this.#finish(operation, "failed", `{"error":${operation.error ?? '{"name":"Error","message":"The step failed."}'}}`);
  }

  #retryStep(operation: Operation): void {
    const { attempt } = entryOf(this.#state, this.#facts);
    if (!this.#answer.mayRetry || attempt >= this.#facts.retries) return this.#failStep(operation);
    this.#attempts.push(failedAttempt(operation.id, attempt, this.#facts, readError(operation.error, "The step failed."), null));
    const isPlanned = this.#state.steps.some(({ id, status }) => id === operation.id && status === "planned");
    this.#write(operation, { status: isPlanned ? "planned" : "running", attempts: attempt + 1 });
    this.#retry = { retryAt: this.#facts.retryAt(attempt, this.#answer.retryAfterMs), attempt: attempt + 1 };
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
    const wait = this.#facts.wait(operation, this.#state);
    if (typeof wait === "string") return this.#refuse(operation, wait);
    this.#write(operation, { kind: "wait", status: "waiting", until: wait.expiresAt, detail: wait.eventName });
    this.#waits.push(wait);
    this.#entries.push({ kind: "timeout", stepId: operation.id, dueAt: wait.expiresAt });
  }

  #invoke(operation: Operation): void {
    const invocation = this.#facts.invoke(operation, this.#state);
    if (typeof invocation === "string") {
      const error = JSON.stringify({ name: "InvocationError", message: invocation });
      this.#write(operation, { kind: "invoke", status: "failed", value: `{"error":${error}}`, endedAt: this.#facts.now });
      this.#done.add(operation.id);
      return;
    }
    const { childRunId, expiresAt, events } = invocation;
    this.#write(operation, { kind: "invoke", status: "waiting", until: expiresAt, detail: childRunId });
    this.#events.push(...events);
    this.#entries.push({ kind: "timeout", stepId: operation.id, dueAt: expiresAt });
  }

  #refuse({ displayName }: Operation, why: string): void {
    this.#fault = { name: "InvalidStep", message: `The step "${displayName}" cannot be taken: ${why}` };
  }

  #write({ id, displayName }: Operation, change: Partial<StepWrite>): void {
    const { startedAt } = this.#facts;
    const fresh = { kind: "run", status: "running", startedAt, endedAt: null, attempts: 1, until: null, detail: null } as const;
    this.#steps.push({ id, name: displayName, ...fresh, ...change });
  }

  /** After a step is done the function is asked again; after operations that only begin something it is left alone. */
  #next(): RunChange {
    const planned = this.#steps.filter(({ status }) => status === "planned").length;
    if (this.#done.size > 0) {
      const change = goOn(this.#state, this.#done, this.#entries, planned);
      return { ...change, isParallel: planned > 1 || change.isParallel === true };
    }
    if (this.#entries.length === 0 && !this.#isUnderWay()) return this.#stuck();
    const steps = [...this.#state.steps, ...this.#steps];
    const isCalled = this.#entries.some(({ kind }) => kind === "call") || this.#othersAreCalled();
    const isParallel = this.#answer.operations.length > 1 || this.#state.run.isParallel;
    return { entries: this.#entries, isParallel, status: isCalled ? "running" : restingStatus(steps) };
  }

  #othersAreCalled(): boolean {
    return this.#state.entries.some(({ kind, no }) => kind === "call" && no !== this.#facts.entry.no);
  }

  #isUnderWay(): boolean {
    return this.#othersAreCalled() || this.#state.steps.some(({ endedAt }) => endedAt === null);
  }

  /** The function neither ended nor asked for anything: it is called again, as often as one that failed. */
  #stuck(): RunChange {
    const { attempt } = entryOf(this.#state, this.#facts);
    const error = { name: "NothingToDo", message: "The function answered without a result and without a step to take." };
    if (attempt < this.#facts.retries) return { entry: { retryAt: this.#facts.retryAt(attempt, null), attempt: attempt + 1 } };
    return failRun(this.#state, error, this.#facts.now, this.#facts.endEvents);
  }

  #overLimit(): RunError | null {
    const { run, steps } = this.#state;
    const count = steps.length + this.#steps.filter(({ id }) => !steps.some((step) => step.id === id)).length;
    if (count > STEPS_MAX) return limitError(`it has more than ${STEPS_MAX} steps`);
    const bytes = this.#steps.reduce((sum, { value }) => sum + (value?.length ?? 0), run.stateBytes);
    if (bytes > STATE_BYTES_MAX) return limitError(`the results of its steps hold more than ${STATE_BYTES_MAX / 1024 / 1024} MiB`);
    return null;
  }
}

function limitError(why: string): RunError {
  return { name: "RunTooLarge", message: `The run was ended: ${why}.` };
}

/** Results an SDK hands in while its call goes on. They count even if the call never ends. */
export function decideCheckpoint(state: RunState, operations: readonly Operation[], now: number): RunChange {
  const known = new Set(state.steps.filter(({ endedAt }) => endedAt !== null).map(({ id }) => id));
  const steps = operations
    .filter(({ op, id }) => ["step", "steprun", "stepfailed"].includes(op) && !known.has(id))
    .map((operation): StepWrite => {
      const failed = operation.op === "stepfailed";
      const value = failed ? `{"error":${operation.error ?? "{}"}}` : `{"data":${operation.data}}`;
      const done = { status: failed ? "failed" : "completed", startedAt: now, endedAt: now, value } as const;
      return { id: operation.id, kind: "run", name: operation.displayName, attempts: 1, until: null, detail: null, ...done };
    });
  return { steps, entry: "reset-attempt" };
}

export { DISCOVERY };
