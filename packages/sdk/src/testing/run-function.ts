/**
 * Runs a function from its event to its end, as the service would: discovery, then each step, then discovery again. Time is
 * skipped: a sleep ends, and a wait times out, when nothing else is left to do, the one that is due first.
 */

import type { Capture } from "../client/run-context.ts";
import { isFinal } from "../errors.ts";
import type { DataField, EventPayload, ReceivedEvent } from "../events/event-types.ts";
import type { StepResult } from "../events/jsonified.ts";
import type { PublishedMessage } from "../events/realtime-topic.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import type { Sessions } from "../events/sessions.ts";
import { runCall } from "../execution/run-call.ts";
import type { InletFunction } from "../functions/inlet-function.ts";
import type { CallBody } from "../wire/call-body.ts";
import type { DeferOperation, StepOperation } from "../wire/step-operations.ts";
import { dueMs, type RanStep, type SettledStep, type StepMock, settleStep } from "./settle-step.ts";

/** The data is that before validation: the input of the event's schema. */
type GivenEvent<Data> = { name?: string; id?: string; ts?: number; meta?: { sessions?: Sessions } } & DataField<Data>;

/** `event`, by default the first trigger's name without data, or instead a batch as `events`. Required where the schema requires data. */
type GivenEvents<Data> =
  Record<never, never> extends Data
    ? { event?: GivenEvent<Data>; events?: readonly GivenEvent<Data>[] }
    : { event: GivenEvent<Data>; events?: never } | { event?: never; events: readonly GivenEvent<Data>[] };

export type RunFunctionOptions<Data> = GivenEvents<Data> & RunSettings;

interface RunSettings {
  /** Mocks by step id: the result of the step, or a function of the step's input that returns it (or throws). `run` steps without a mock execute. */
  steps?: Readonly<Record<string, StepMock>>;
  /** Retries after the first attempt, per step and of the function; default 0. */
  retries?: number;
  runId?: string;
}

export interface FunctionRun<Result> {
  /** The return value of the function, after JSON serialisation. */
  result: StepResult<Result> | undefined;
  /** The error that it threw. */
  error: Error | undefined;
  /** The steps in the order in which they ended. */
  steps: RanStep[];
  /** Every event that the function sent, in order; none is sent to a service. */
  sent: EventPayload[];
  /** Every signal that the function sent, in order; none is sent to a service. */
  signals: SentSignal[];
  /** Every realtime message that the function published, in order; none is sent to a service. */
  published: PublishedMessage[];
  /** Every function that was deferred and not aborted, in order; none is started. */
  deferred: DeferredCall[];
}

export interface DeferredCall {
  id: string;
  /** `<app id>-<function id>`. */
  function: string;
  data: unknown;
}

/** The time of the run: only skipping moves it. */
interface Clock {
  nowMs: number;
  /** By step id, as of when the step began: it stays due then, whatever else is skipped first. */
  dueMs: Map<string, number>;
}

const ROUNDS_MAX = 1_000;

export async function runFunction<Result, Data>(
  fn: InletFunction<Result, Data>,
  ...[given]: Record<never, never> extends Data ? [options?: RunFunctionOptions<Data>] : [options: RunFunctionOptions<Data>]
): Promise<FunctionRun<Result>> {
  const options: RunFunctionOptions<unknown> = given ?? {};
  const run: FunctionRun<Result> = { result: undefined, error: undefined, steps: [], sent: [], signals: [], published: [], deferred: [] };
  const capture: Capture = {
    events: (events) => events.map((event) => `test-event-${run.sent.push(event)}`),
    signal: (signal) => void run.signals.push(signal),
    message: (message) => void run.published.push(message),
  };
  const retries = options.retries ?? 0;
  const body = firstBody(fn, options, retries);
  const clock: Clock = { nowMs: Date.now(), dueMs: new Map() };
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const outcome = await runCall(fn, body, { requestedStep: null, capture });
    run.deferred = outcome.deferred.filter(({ op }) => op === "DeferAdd").map(deferredCall);
    if (outcome.kind === "returned") return { ...run, result: asJson(outcome.data) as StepResult<Result> };
    if (outcome.kind === "threw") {
      if (isFinal(outcome.error) || body.attempt >= retries) return { ...run, error: asError(outcome.error) };
      body.attempt++;
    } else if (outcome.kind === "planned") {
      for (const operation of nextToSettle(outcome.operations, options.steps ?? {}, clock)) {
        keep(body, run.steps, operation, await settleStep(fn, body, operation, { mocks: options.steps ?? {}, retries, capture }));
      }
    }
  }
  throw new Error(`"${fn.id}" did not end within ${ROUNDS_MAX} rounds: does it start new steps for ever?`);
}

function firstBody(
  fn: InletFunction,
  { event, events, runId = "01TESTRUN00000000000000000" }: RunFunctionOptions<unknown>,
  retries: number,
): CallBody {
  const trigger = fn.triggers.find((each) => "event" in each);
  const name = trigger && "event" in trigger ? trigger.event : "inlet/scheduled.timer";
  const whole = (events ?? [event ?? {}]).map(
    (each, i) => ({ name, data: {}, id: `test-${i + 1}`, ts: Date.now(), ...each }) as ReceivedEvent,
  );
  return {
    event: whole[0] as ReceivedEvent,
    events: whole,
    steps: {},
    runId,
    attempt: 0,
    maxAttempts: retries + 1,
    stack: [],
    // Every step is reported first, so that mocks apply.
    disableImmediateExecution: true,
    useApi: false,
    takesLogs: false,
  };
}

/** Work before time: a sleep ends only when nothing else is open. Time then passes until the one that is due first. */
function nextToSettle(operations: readonly StepOperation[], mocks: Readonly<Record<string, StepMock>>, clock: Clock): StepOperation[] {
  for (const operation of operations) {
    const due = clock.dueMs.get(operation.id) ?? dueMs(operation, mocks, clock.nowMs);
    if (due !== undefined) clock.dueMs.set(operation.id, due);
  }
  const dueOf = ({ id }: StepOperation) => clock.dueMs.get(id);
  const work = operations.filter((operation) => dueOf(operation) === undefined);
  if (work.length > 0) return work;
  const [next] = operations.toSorted((a, b) => (dueOf(a) ?? 0) - (dueOf(b) ?? 0));
  if (!next) return [];
  // A time that has passed already does not set the clock back.
  clock.nowMs = Math.max(clock.nowMs, dueOf(next) ?? 0);
  return [next];
}

function keep(body: CallBody, steps: RanStep[], { id }: StepOperation, { memo, ran }: SettledStep): void {
  body.steps = { ...body.steps, [id]: memo };
  body.stack.push(id);
  body.attempt = 0;
  steps.push(ran);
}

function deferredCall({ displayName, opts }: DeferOperation): DeferredCall {
  return { id: displayName, function: String(opts?.fn_slug), data: asJson(opts?.input) };
}

function asJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? null : JSON.parse(text);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown), { cause: thrown });
}
