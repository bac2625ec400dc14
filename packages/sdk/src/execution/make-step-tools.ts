/** Builds the `step` object: each tool converts its arguments to a request for one step. Invalid arguments throw at the call. */

import type { Client } from "../client/client.ts";
import { stepSeed } from "../client/event-seed.ts";
import { durationText, instantText } from "../duration.ts";
import { NonRetriableError } from "../errors.ts";
import type { EventPayload, ReceivedEvent } from "../events/event-types.ts";
import type { RealtimeTopic } from "../events/realtime-topic.ts";
import type { SentSignal } from "../events/sent-signal.ts";
import { type EventMeta, type Sessions, stampedMeta } from "../events/sessions.ts";
import { validateReceived } from "../events/validate-events.ts";
import { type CheckedInvocation, validateInvocation, validateReference } from "../events/validate-invocation.ts";
import type { FetchOptions, InferOptions } from "../functions/ai-tools.ts";
import { type FunctionReference, isReference } from "../functions/function-reference.ts";
import { fullId, type InletFunction } from "../functions/inlet-function.ts";
import { conditionOf } from "../functions/registration.ts";
import type { AnyStepTools, ApprovalOptions, SignalOptions } from "../functions/step-tools.ts";
import type { StepRequest } from "./found-step.ts";
import { fetchRequest, inferRequest } from "./gateway-requests.ts";

export interface StepSource {
  client: Client;
  runId: string;
  /** The time of the run's event: the same in every call. */
  eventMs: number;
  sessions: Sessions;
  find: (request: StepRequest) => Promise<unknown>;
}

export function makeStepTools({ client, runId, eventMs, sessions, find }: StepSource): AnyStepTools {
  const tools = {
    run(id: string, body: (...args: unknown[]) => unknown, ...args: unknown[]) {
      if (typeof body !== "function") throw new TypeError(`step.run("${id}") needs a function`);
      return find({ id, op: "StepRun", input: args, opts: { type: "step.run" }, run: (_, input) => body(...input) });
    },
    sendEvent(id: string, events: EventPayload | readonly EventPayload[]) {
      const send = ({ hash }: { hash: string }) => client.sendAs(events, { seed: stepSeed(runId, hash, eventMs), runId, sessions });
      return find({ id, op: "StepRun", opts: { type: "step.sendEvent" }, run: send });
    },
    sleep(id: string, duration: number | string) {
      return find({ id, op: "Sleep", name: durationText(duration), revive: () => undefined });
    },
    sleepUntil(id: string, instant: Date | string | number) {
      return find({ id, op: "Sleep", name: instantText(instant), revive: () => undefined });
    },
    waitForEvent(
      id: string,
      { event, timeout, ...conditions }: { event: string; timeout: number | string | Date; match?: string; if?: string },
    ) {
      if (!event) throw new TypeError(`step.waitForEvent("${id}") needs the name of an event`);
      if (event.includes("*"))
        throw new TypeError(`step.waitForEvent("${id}") needs the whole name of an event: the pattern "${event}" would never match one`);
      const expression = conditionOf(conditions);
      const opts = { timeout: requiredLimit("waitForEvent", id, timeout), ...(expression ? { if: expression } : {}) };
      return find({ id, op: "WaitForEvent", name: event, opts, revive: (found) => received(client, found) });
    },
    waitForSignal(id: string, { signal, timeout, onConflict = "fail" }: SignalOptions) {
      if (!signal) throw new TypeError(`step.waitForSignal("${id}") needs a signal`);
      const opts = { signal, timeout: requiredLimit("waitForSignal", id, timeout), conflict: onConflict };
      return find({ id, op: "WaitForSignal", name: signal, opts, revive: (found) => found ?? null });
    },
    waitForApproval(id: string, { prompt, data = null, timeout, confirmReject = false }: ApprovalOptions) {
      if (!prompt?.trim()) throw new TypeError(`step.waitForApproval("${id}") needs a prompt`);
      const opts = { prompt, data, timeout: requiredLimit("waitForApproval", id, timeout), confirmReject };
      return find({ id, op: "WaitForApproval", opts, revive: (found) => found ?? null });
    },
    sendSignal(id: string, sent: SentSignal) {
      if (!sent?.signal) throw new TypeError(`step.sendSignal("${id}") needs a signal`);
      const opts = { type: "step.sendSignal", signal: sent.signal };
      return find({ id, op: "StepRun", opts, run: () => client.sendSignal(sent) });
    },
    fetch: (url: string | URL, options?: FetchOptions) => find(fetchRequest(url, options)),
    ai: {
      infer: (id: string, options: InferOptions) => find(inferRequest(id, options)),
      wrap(id: string, body: (...args: unknown[]) => unknown, ...args: unknown[]) {
        if (typeof body !== "function") throw new TypeError(`step.ai.wrap("${id}") needs a function`);
        return find({ id, op: "StepRun", input: args, opts: { type: "step.ai.wrap" }, run: (_, input) => body(...input) });
      },
    },
    realtime: {
      publish(id: string, topic: RealtimeTopic, data: unknown) {
        if (!topic?.channel || !topic.topic) throw new TypeError(`step.realtime.publish("${id}") needs a channel and a topic`);
        const run = () => client.realtime.publish(topic, data);
        return find({ id, op: "StepRun", opts: { type: "step.realtime.publish" }, run, revive: () => undefined });
      },
    },
    invoke(id: string, { function: called, data = {}, user, v, meta: given, timeout }: InvokeParameters) {
      if (!called) throw new TypeError(`step.invoke("${id}") needs a function`);
      const meta = stampedMeta(given, client.sessionPropagation ? sessions : undefined);
      const opts = {
        function_id: typeof called === "string" ? called : isReference(called) ? `${called.appId}-${called.id}` : fullId(called),
        payload: { data, ...(user && { user }), ...(v !== undefined && { v }), ...(meta && { meta }) },
        ...(timeout === undefined ? {} : { timeout: limitText(timeout) }),
      };
      const check = typeof called === "string" ? {} : { check: () => checkInvocation(called, data) };
      return find({ id, op: "InvokeFunction", opts, ...check });
    },
  };
  return tools as unknown as AnyStepTools;
}

interface InvokeParameters {
  function: InletFunction | FunctionReference | string;
  data?: unknown;
  user?: Readonly<Record<string, unknown>>;
  v?: string;
  meta?: EventMeta;
  timeout?: number | string | Date;
}

/** Data that breaks the schema of the invoked function always will: no retry. */
function checkInvocation(called: InletFunction | FunctionReference, data: unknown): void | Promise<void> {
  const checked = isReference(called) ? validateReference(called, data) : validateInvocation(called, data);
  return checked instanceof Promise ? checked.then(refuse) : refuse(checked);
}

function refuse(checked: CheckedInvocation): void {
  if (!checked.ok) throw new NonRetriableError(checked.fault);
}

/** A wait that timed out returns null. */
function received(client: Client, found: unknown): unknown {
  return found && client.validates ? validateReceived(client.schemas, found as ReceivedEvent) : (found ?? null);
}

function requiredLimit(tool: string, id: string, timeout: number | string | Date): string {
  if (timeout === undefined || timeout === null) throw new TypeError(`step.${tool}("${id}") needs a timeout, such as "1h"`);
  return limitText(timeout);
}

function limitText(timeout: number | string | Date): string {
  if (timeout instanceof Date) return durationText(Math.max(0, timeout.getTime() - Date.now()));
  return durationText(timeout);
}
