/** Values on their way to the service and back, as the `encode` and `decode` of a client's middleware convert them. */

import type { EventPayload, ReceivedEvent } from "../events/event-types.ts";
import type { Outcome } from "../execution/execute-call.ts";
import type { CallBody } from "../wire/call-body.ts";
import { type DeferOperation, readMemo, type StepMemos, type StepOperation } from "../wire/step-operations.ts";
import type { Middleware } from "./middleware.ts";

export async function encodeValue(list: readonly Middleware[], value: unknown): Promise<unknown> {
  let encoded = value;
  for (const one of list) if (one.encode) encoded = await one.encode(encoded);
  return encoded;
}

export async function decodeValue(list: readonly Middleware[], value: unknown): Promise<unknown> {
  let decoded = value;
  for (const one of list.toReversed()) if (one.decode) decoded = await one.decode(decoded);
  return decoded;
}

/** The service takes absent data for {}, which it cannot do once they are encoded. */
export function encodeEvents(list: readonly Middleware[], events: readonly EventPayload[]): Promise<EventPayload[]> {
  const encoded = async (event: EventPayload) => ({ ...event, data: (await encodeValue(list, event.data ?? {})) as EventPayload["data"] });
  return Promise.all(events.map(encoded));
}

/** A call with events and results as the function's code reads them. Data that were encoded as null are {}, as without middleware. */
export async function decodeCall(list: readonly Middleware[], body: CallBody): Promise<CallBody> {
  if (!list.some(({ decode }) => decode)) return body;
  const decoded = async (event: ReceivedEvent) => ({
    ...event,
    data: ((await decodeValue(list, event.data)) ?? {}) as ReceivedEvent["data"],
  });
  const events = await Promise.all(body.events.map(decoded));
  return { ...body, events, event: events[0] ?? body.event, steps: await decodeMemos(list, body.steps) };
}

async function decodeMemos(list: readonly Middleware[], memos: StepMemos): Promise<StepMemos> {
  const decoded = async (value: unknown) => {
    const memo = readMemo(value);
    if (memo.kind === "error") return value;
    if (memo.kind === "data") return { data: await decodeValue(list, memo.data) };
    return { input: await Promise.all(memo.input.map((argument) => decodeValue(list, argument))) };
  };
  return Object.fromEntries(await Promise.all(Object.entries(memos).map(async ([id, value]) => [id, await decoded(value)] as const)));
}

/** What a call answers, as the service stores it. Errors are left as they are: people have to be able to read them. */
export async function encodeOutcome(list: readonly Middleware[], outcome: Outcome): Promise<Outcome> {
  if (!list.some(({ encode }) => encode)) return outcome;
  const deferred = await Promise.all(outcome.deferred.map((one) => encodeDeferred(list, one)));
  switch (outcome.kind) {
    case "returned":
      return { kind: "returned", data: await encodeValue(list, outcome.data ?? null), deferred };
    case "planned":
      return { kind: "planned", operations: await Promise.all(outcome.operations.map((one) => encodePlanned(list, one))), deferred };
    case "ran": {
      const { operation } = outcome.step;
      if (operation.op !== "StepRun") return { ...outcome, deferred };
      const encoded = { ...operation, data: await encodeValue(list, operation.data) };
      return { kind: "ran", step: { ...outcome.step, operation: encoded, text: JSON.stringify(encoded) }, deferred };
    }
    default:
      return { ...outcome, deferred };
  }
}

/** The data of an invocation and the arguments of a step. Requests that the service makes itself have to be readable for it. */
async function encodePlanned(list: readonly Middleware[], operation: StepOperation): Promise<StepOperation> {
  const { op, opts } = operation;
  if (op === "InvokeFunction") {
    const payload = opts?.payload as { data: unknown };
    return { ...operation, opts: { ...opts, payload: { ...payload, data: await encodeValue(list, payload.data) } } };
  }
  if (op !== "StepPlanned" || !Array.isArray(opts?.input)) return operation;
  return { ...operation, opts: { ...opts, input: await Promise.all(opts.input.map((argument) => encodeValue(list, argument))) } };
}

async function encodeDeferred(list: readonly Middleware[], operation: DeferOperation): Promise<DeferOperation> {
  if (operation.op !== "DeferAdd") return operation;
  return { ...operation, opts: { ...operation.opts, input: await encodeValue(list, operation.opts?.input) } };
}
