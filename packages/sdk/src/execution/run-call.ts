/** Builds the context of a handler, and executes one call of it. */

import { inRunContext, type RunContext } from "../client/run-context.ts";
import type { ReceivedEvent } from "../events/event-types.ts";
import { sharedSessions } from "../events/sessions.ts";
import { validateReceived } from "../events/validate-events.ts";
import { INVOKED_EVENT, validateInvoked } from "../events/validate-invocation.ts";
import type { FunctionContext } from "../functions/context.ts";
import type { Defer } from "../functions/defer.ts";
import { FAILURE_SUFFIX, type InletFunction } from "../functions/inlet-function.ts";
import { executeThrough } from "../middleware/execute-through.ts";
import type { BeforeFunction } from "../middleware/middleware.ts";
import type { CallBody } from "../wire/call-body.ts";
import { fromWireError, type WireError } from "../wire/wire-error.ts";
import { type CallLogs, eachLevel } from "./call-logs.ts";
import { makeDefer } from "./deferred-calls.ts";
import { type Call, type Execution, executeCall, type Outcome } from "./execute-call.ts";
import { makeStepTools } from "./make-step-tools.ts";

type PlainContext = FunctionContext<Record<never, never>, false, ReceivedEvent>;

export interface RunCallOptions {
  /** The planned step to run, or null for a discovery. */
  requestedStep: string | null;
  capture?: RunContext["capture"];
  /** Collects what the function writes through its logger. */
  logs?: CallLogs | undefined;
}

export function runCall(fn: InletFunction, body: CallBody, { requestedStep, capture, logs }: RunCallOptions): Promise<Outcome> {
  const { middleware, settings } = fn.client;
  const { runId, attempt, maxAttempts } = body;
  const info = { function: { id: fn.id, appId: fn.client.id }, runId, attempt, maxAttempts };
  const sessions = sharedSessions(body.events);
  const call: Call = {
    runId,
    memos: body.steps,
    stack: body.stack,
    requestedStep,
    sessions,
    capture,
    middleware,
    info,
    logs,
    mayRunAtOnce: !body.disableImmediateExecution,
  };
  const execute = (start: BeforeFunction) => executeCall(call, (execution) => runCode(fn, start, execution, logs));
  const start = {
    ...info,
    event: body.event,
    events: body.events as [ReceivedEvent, ...ReceivedEvent[]],
    logger: logs ? logs.own(settings.logger) : settings.logger,
    sessions,
  };
  if (middleware.length === 0) return execute(start);
  return inRunContext({ runId, sessions, capture }, () => executeThrough(middleware, start, execute));
}

/** Middleware may have changed the events, so they are validated after it. */
function runCode(fn: InletFunction, start: BeforeFunction, execution: Execution, logs: CallLogs | undefined): unknown {
  const handler = fn.handler as (context: PlainContext) => unknown;
  if (!fn.client.validates) return handler(contextOf(fn, start, execution, logs));
  return validated(fn, start.events).then((events) => handler(contextOf(fn, { ...start, ...events }, execution, logs)));
}

/** What middleware added stands beside the SDK's own fields, and replaces none of them. */
function contextOf(fn: InletFunction, start: BeforeFunction, execution: Execution, logs: CallLogs | undefined): PlainContext {
  const { client, id } = fn;
  const { find, isNew, defer } = execution;
  const { function: _, event, sessions, runId, ...rest } = start;
  const eventMs = typeof event.ts === "number" ? event.ts : 0;
  const context: PlainContext = {
    ...rest,
    event,
    sessions,
    runId,
    step: makeStepTools({ client, runId, eventMs, sessions, find }),
    defer: makeDefer(client, sessions, defer) as Defer,
    logger: loudWhile(isNew, logs ? logs.ofContext(start.logger) : start.logger),
  };
  if (!id.endsWith(FAILURE_SUFFIX) || event.name !== "inlet/function.failed") return context;
  const error = (event.data.error ?? { name: "Error", message: "unknown error" }) as WireError;
  return Object.assign(context, { error: fromWireError(error) });
}

async function validated(fn: InletFunction, events: BeforeFunction["events"]): Promise<Pick<BeforeFunction, "event" | "events">> {
  const checked = await Promise.all(
    events.map((event) => (event.name === INVOKED_EVENT ? validateInvoked(fn, event) : validateReceived(fn.client.schemas, event))),
  );
  return { event: checked[0] as ReceivedEvent, events: checked as [ReceivedEvent, ...ReceivedEvent[]] };
}

function loudWhile(isLoud: () => boolean, logger: BeforeFunction["logger"]): BeforeFunction["logger"] {
  return eachLevel((level, args) => {
    if (isLoud()) logger[level](...args);
  });
}
