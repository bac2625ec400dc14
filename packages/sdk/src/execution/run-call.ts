/** Builds the context of a handler, and executes one call of it. */

import type { RunContext } from "../client/run-context.ts";
import type { Logger } from "../client/settings.ts";
import type { ReceivedEvent } from "../events/event-types.ts";
import { type Sessions, sharedSessions } from "../events/sessions.ts";
import { validateReceived } from "../events/validate-events.ts";
import { INVOKED_EVENT, validateInvoked } from "../events/validate-invocation.ts";
import type { FunctionContext } from "../functions/context.ts";
import type { Defer } from "../functions/defer.ts";
import { FAILURE_SUFFIX, type InletFunction } from "../functions/inlet-function.ts";
import type { CallBody } from "../wire/call-body.ts";
import { fromWireError, type WireError } from "../wire/wire-error.ts";
import { makeDefer } from "./deferred-calls.ts";
import { type Execution, executeCall, type Outcome } from "./execute-call.ts";
import { makeStepTools } from "./make-step-tools.ts";

type PlainContext = FunctionContext<Record<never, never>, false, ReceivedEvent>;

export interface RunCallOptions {
  /** The planned step to run, or null for a discovery. */
  requestedStep: string | null;
  capture?: RunContext["capture"];
}

export function runCall(fn: InletFunction, body: CallBody, { requestedStep, capture }: RunCallOptions): Promise<Outcome> {
  const sessions = sharedSessions(body.events);
  const call = {
    runId: body.runId,
    memos: body.steps,
    stack: body.stack,
    requestedStep,
    sessions,
    capture,
    mayRunAtOnce: !body.disableImmediateExecution,
  };
  const handler = fn.handler as (context: PlainContext) => unknown;
  return executeCall(call, (execution) =>
    fn.client.validates
      ? validated(fn, body).then((events) => handler(contextOf(fn, { ...body, ...events }, execution, sessions)))
      : handler(contextOf(fn, body, execution, sessions)),
  );
}

function contextOf({ client, id }: InletFunction, body: CallBody, { find, isNew, defer }: Execution, sessions: Sessions): PlainContext {
  const eventMs = typeof body.event.ts === "number" ? body.event.ts : 0;
  const context: PlainContext = {
    event: body.event,
    events: body.events as [ReceivedEvent, ...ReceivedEvent[]],
    step: makeStepTools({ client, runId: body.runId, eventMs, sessions, find }),
    defer: makeDefer(client, sessions, defer) as Defer,
    sessions,
    runId: body.runId,
    attempt: body.attempt,
    maxAttempts: body.maxAttempts,
    logger: quietWhile(client.settings.logger, () => !isNew()),
  };
  if (!id.endsWith(FAILURE_SUFFIX) || body.event.name !== "inlet/function.failed") return context;
  const error = (body.event.data.error ?? { name: "Error", message: "unknown error" }) as WireError;
  return Object.assign(context, { error: fromWireError(error) });
}

async function validated(fn: InletFunction, { events }: CallBody): Promise<Pick<CallBody, "event" | "events">> {
  const checked = await Promise.all(
    events.map((event) => (event.name === INVOKED_EVENT ? validateInvoked(fn, event) : validateReceived(fn.client.schemas, event))),
  );
  return { event: checked[0] as ReceivedEvent, events: checked };
}

function quietWhile(logger: Logger, isQuiet: () => boolean): Logger {
  return {
    debug: (...args) => isQuiet() || logger.debug(...args),
    info: (...args) => isQuiet() || logger.info(...args),
    warn: (...args) => isQuiet() || logger.warn(...args),
    error: (...args) => isQuiet() || logger.error(...args),
  };
}
