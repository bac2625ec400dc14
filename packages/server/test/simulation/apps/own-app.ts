/** The functions of one app, served by our SDK in this process. What its code does is written down in the journal. */

import { AsyncLocalStorage } from "node:async_hooks";
import { createDefer, type Defer, type DeferredFunction, Inlet, type InletFunction, NonRetriableError, RetryAfterError } from "@inlet/sdk";
import { serve } from "@inlet/sdk/fetch";
import { bodyError, bodyValue, type DecisionValue, decisionText, interpret, type Json, signalText, type Tools } from "../interpret.ts";
import type { Journal } from "../journal.ts";
import type { BodyNote, CallNote } from "../journal-notes.ts";
import { codeNodes, fetchUrl, fullId, type RunCode, type SdkName, type SimFunction, signalName } from "../scenario.ts";
import { pass } from "../virtual-time.ts";

/** The call whose code is running: the SDK hands on only the run. */
export interface CallScope {
  call: CallNote;
  permittedAt: number;
  /** Bodies that ran in it. */
  bodies: BodyNote[];
}

export const callScopes = new AsyncLocalStorage<CallScope>();

export type Edge = (url: string, init: { method: string; headers: Record<string, string>; body?: string }) => Promise<EdgeResponse>;

export interface EdgeResponse {
  status: number;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface AppParts {
  sdk: SdkName;
  functions: readonly SimFunction[];
  /** Every function of the scenario, for invocations. */
  idOf(fn: string): string;
  edge: Edge;
  journal: Journal;
  ignoresUseApi: boolean;
}

interface Context {
  event: { data: Record<string, unknown> };
  runId: string;
  attempt: number;
  step: {
    run(id: string, body: () => Promise<Json>): Promise<Json>;
    sleep(id: string, ms: number): Promise<unknown>;
    waitForEvent(id: string, options: object): Promise<{ data: { n: number } } | null>;
    invoke(id: string, options: object): Promise<Json>;
    sendEvent(id: string, events: object): Promise<{ ids: string[] }>;
    waitForSignal(id: string, options: object): Promise<{ data: { n: number } | DecisionValue } | null>;
    waitForApproval(id: string, options: object): Promise<DecisionValue | null>;
    sendSignal(id: string, signal: object): Promise<{ runId: string | null }>;
    fetch(url: string): Promise<Response>;
  };
  defer: Defer;
}

/** Apps and people begin with it. */
export const EVENT_KEY = "event-key";
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export function createOwnApp(parts: AppParts): (request: Request) => Promise<Response> {
  const client = new Inlet({
    id: parts.sdk,
    isDev: true,
    eventKey: EVENT_KEY,
    baseUrl: "http://service",
    fetch: parts.edge,
    logger: SILENT,
  });
  const functions = parts.functions.flatMap((fn) => createFunctions(client, fn, parts));
  return serve({ client, functions });
}

function createFunctions(client: Inlet, fn: SimFunction, parts: AppParts): InletFunction[] {
  const { id, retries, trigger, cancelOn, flow, code } = fn;
  const { event: cancelEvent, by, timeout } = cancelOn ?? {};
  const config = {
    id,
    retries,
    ...(flow as object),
    ...(cancelEvent && { cancelOn: [{ event: cancelEvent, ...(by === "match" && { match: "data.k" }), ...(timeout && { timeout }) }] }),
    ...(fn.onFailure && { onFailure: (context: unknown) => failureCode(context as Context, parts) }),
  };
  const schedule = fn.everyMinutes === undefined ? null : { cron: `*/${fn.everyMinutes} * * * *` };
  const started = schedule ?? { event: trigger?.event ?? `never/${id}`, ...(trigger?.onlyOdd && { if: "event.data.n % 2 == 1" }) };
  const later = codeNodes(code).some(({ kind }) => kind === "defer") ? laterOf(client, fn, parts) : null;
  const handler = (context: unknown): unknown => interpret(code, toolsFor(context as Context, fn, parts, later));
  const own: InletFunction = client.createFunction(config, started, handler);
  return later ? [own, later] : [own];
}

/** What the function defers: one step. */
export const LATER_CODE: RunCode = { kind: "run", id: "later", fails: 0, error: "plain", tookMs: 1 };
export const LATER_SUFFIX = "-later";

function laterOf(client: Inlet, { id }: SimFunction, { journal }: AppParts): DeferredFunction {
  return createDefer(client, { id: `${id}${LATER_SUFFIX}`, retries: 1 }, (given): unknown => {
    const context = given as unknown as Context;
    const n = context.event.data.n as number;
    return context.step.run(LATER_CODE.id, () => runBody(LATER_CODE, LATER_CODE.id, n, context, journal));
  });
}

/** What an onFailure does: one step. */
export const FAILURE_CODE: RunCode = { kind: "run", id: "clean up", fails: 0, error: "plain", tookMs: 1 };

async function failureCode(context: Context, { journal }: AppParts): Promise<Json> {
  return context.step.run(FAILURE_CODE.id, () => runBody(FAILURE_CODE, FAILURE_CODE.id, 0, context, journal));
}

function toolsFor(context: Context, fn: SimFunction, { journal, idOf }: AppParts, later: DeferredFunction | null): Tools {
  const { step, event, attempt } = context;
  const { k = 0, n = 0 } = event.data as { k?: number; n?: number };
  const names = new StepNames();
  return {
    attempt,
    finalError: (message) => new NonRetriableError(message),
    run: (code) => {
      const name = names.next(code.id);
      return step.run(code.id, () => runBody(code, name, n, context, journal));
    },
    sleep: ({ id, ms }) => {
      names.next(id);
      return step.sleep(id, ms);
    },
    wait: async ({ id, event: waited, by, timeoutMs }) => {
      names.next(id);
      const rule = by === "match" ? { match: "data.k" } : by === "if" ? { if: `async.data.k == ${k}` } : {};
      const found = await step.waitForEvent(id, { event: waited, timeout: timeoutMs, ...rule });
      return found === null ? null : found.data.n;
    },
    invoke: ({ id, fn: called, timeoutMs }) => {
      names.next(id);
      return step.invoke(id, { function: idOf(called), data: { k, n }, ...(timeoutMs !== null && { timeout: timeoutMs }) });
    },
    send: async ({ id, event: sent }) => {
      const name = names.next(id);
      const { ids } = await step.sendEvent(id, { name: sent, data: { k, n, by: `${fullId(fn)} ${context.runId} ${name}` } });
      return ids.length;
    },
    signal: async ({ id, signal, onConflict, timeoutMs }) => {
      names.next(id);
      const found = await step.waitForSignal(id, { signal: signalName(signal, k), onConflict, timeout: timeoutMs });
      return found === null ? null : signalText(found.data);
    },
    ask: async ({ id, timeoutMs }) => {
      names.next(id);
      const found = await step.waitForApproval(id, { prompt: `May ${n} go on?`, data: { k, n }, timeout: timeoutMs });
      return found === null ? null : decisionText(found);
    },
    tell: async ({ id, signal }) => {
      names.next(id);
      const sent = { signal: signalName(signal, k), data: { n, no: journal.signalsSent++ } };
      return (await step.sendSignal(id, sent)).runId !== null;
    },
    fetch: async (code) => (await step.fetch(fetchUrl(code, context.runId, names.next(code.id)))).status,
    defer: ({ id, isDropped }) => {
      names.next(id);
      const deferred = context.defer(id, { function: later as DeferredFunction, data: { k, n } });
      if (isDropped) deferred.abort();
    },
  };
}

/** Equal ids are told apart by how often they came before. */
export class StepNames {
  readonly #used = new Set<string>();
  readonly #next = new Map<string, number>();

  next(id: string): string {
    let index = this.#next.get(id) ?? 0;
    let name = index === 0 ? id : `${id}:${index}`;
    while (this.#used.has(name)) name = `${id}:${++index}`;
    this.#used.add(name);
    this.#next.set(id, index + 1);
    return name;
  }
}

async function runBody(code: RunCode, step: string, n: number, { runId, attempt }: Context, journal: Journal): Promise<Json> {
  const scope = callScopes.getStore();
  if (!scope) throw new Error("a body ran outside any call");
  const note = journal.noteBody({ call: scope.call, runId, step, attempt, permittedAt: scope.permittedAt });
  scope.bodies.push(note);
  const isFirst = journal.bodies.get(`${runId}/${step}`)?.length === 1;
  const tookMs = (isFirst ? code.firstTookMs : undefined) ?? code.tookMs;
  if (tookMs > 0) await pass(tookMs);
  if (attempt >= code.fails) return bodyValue(code, n);
  note.failed = true;
  const message = bodyError(code, n);
  if (code.error === "final") throw new NonRetriableError(message);
  throw code.error === "plain" ? new Error(message) : new RetryAfterError(message, "7s");
}
