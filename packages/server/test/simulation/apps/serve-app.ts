/**
 * An app as the network reaches it: our SDK as it is, or speaking as a published one does. Those are made of our SDK's execution and
 * the manners of the other on the wire:
 *
 *   v3   after every step the function is asked again (request version 1); a last attempt says itself that the step has failed
 *   v4   steps that come one after the other are run in one call, and each result is handed in by a checkpoint before the next
 *
 * and of its name for the event about a failed function.
 */

import type { AppRequest } from "../../../src/execute/call/call-app.ts";
import type { AppResponse } from "../../../src/execute/call/read-response.ts";
import { now, pass } from "../virtual-time.ts";
import { type AppParts, type CallScope, callScopes, createOwnApp, type Edge } from "./own-app.ts";

export interface SimApp {
  /** Whatever happens to the call meanwhile, the app works on it to its end. */
  handle(request: AppRequest, scope: CallScope): Promise<AppResponse>;
}

interface CallBody {
  ctx: {
    run_id: string;
    fn_id: string;
    qi_id: string;
    attempt: number;
    max_attempts: number;
    disable_immediate_execution: boolean;
    stack: { stack: string[]; current: number };
  };
  steps: Record<string, unknown>;
}

interface Operation {
  op: string;
  id: string;
  data?: unknown;
  error?: unknown;
}

const CHECKPOINT_TRIES = 5;
const CHECKPOINT_DELAY_MS = 100;

const OWN_FAILURE = '"inlet/function.failed"';
const THEIR_FAILURE = '"inngest/function.failed"';

export function serveApp(parts: AppParts): SimApp {
  const isPublished = parts.sdk === "v3" || parts.sdk === "v4";
  const register: Edge = (url, init) => parts.edge(url, { ...init, body: (init.body ?? "").replaceAll(OWN_FAILURE, THEIR_FAILURE) });
  const handler = createOwnApp(isPublished ? { ...parts, edge: register } : parts);
  const ask = async ({ url, method, headers, body }: AppRequest, text = body): Promise<AppResponse> => {
    const said = isPublished ? text.replaceAll(THEIR_FAILURE, OWN_FAILURE) : text;
    const told = parts.ignoresUseApi ? said.replaceAll('"use_api":true', '"use_api":false') : said;
    const response = await handler(new Request(url, { method, headers, body: told }));
    return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
  };
  const answerTo = (request: AppRequest, scope: CallScope): Promise<AppResponse> => {
    if (!isPublished || request.method === "PUT") return ask(request);
    return parts.sdk === "v3" ? askAsV3(ask, request) : askAsV4(ask, request, scope, parts.edge);
  };
  return { handle: (request, scope) => callScopes.run(scope, () => answerTo(request, scope)) };
}

/** The planned step a call is for; null: the function itself. */
export function stepIdOf(url: string): string | null {
  const stepId = new URL(url).searchParams.get("stepId");
  return stepId === "step" ? null : stepId;
}

type Ask = (request: AppRequest, text?: string) => Promise<AppResponse>;

async function askAsV3(ask: Ask, request: AppRequest): Promise<AppResponse> {
  const { ctx } = JSON.parse(request.body) as CallBody;
  return inngestResponse(await ask(request), ctx, "1");
}

async function askAsV4(ask: Ask, request: AppRequest, scope: CallScope, edge: Edge): Promise<AppResponse> {
  const body = JSON.parse(request.body) as CallBody;
  const { ctx } = body;
  if (stepIdOf(request.url) !== null || ctx.disable_immediate_execution) return inngestResponse(await ask(request), ctx, null);
  for (;;) {
    const answer = inngestResponse(await ask(request, JSON.stringify(body)), ctx, null);
    if (answer.status === 200) return { ...answer, status: 206, body: `[{"op":"RunComplete","id":"complete","data":${answer.body}}]` };
    const operations = answer.status === 206 ? (JSON.parse(answer.body) as Operation[]) : [];
    const [only] = operations;
    // An attempt that is a repetition ends with its step.
    if (operations.length !== 1 || only?.op !== "StepRun" || ctx.attempt > 0) return answer;
    const outcome = await checkpoint(edge, ctx, operations);
    if (outcome === "superseded")
      return inngest(400, '{"name":"StaleDispatchError","message":"the call was given up"}', { "no-retry": "true" });
    if (outcome === "failed") return answer;
    scope.permittedAt = outcome;
    for (const note of scope.bodies) note.keptAt ??= now();
    body.steps[only.id] = { data: only.data ?? null };
    ctx.stack.stack.push(only.id);
  }
}

/** When the service had taken it; or why it did not. */
async function checkpoint(edge: Edge, ctx: CallBody["ctx"], steps: readonly Operation[]): Promise<number | "superseded" | "failed"> {
  const body = JSON.stringify({ run_id: ctx.run_id, fn_id: ctx.fn_id, qi_id: ctx.qi_id, steps });
  for (let tries = 1; ; tries++) {
    try {
      const url = `http://service/v1/checkpoint/${ctx.run_id}/async`;
      const answer = await edge(url, { method: "POST", headers: {}, body });
      if (answer.status === 200) return Number(answer.headers.get("taken-at"));
      const text = await answer.text();
      if (text.includes("call_superseded") || text.includes("run_ended")) return "superseded";
    } catch {
      // Nobody listens there; perhaps in a moment.
    }
    if (tries === CHECKPOINT_TRIES) return "failed";
    await pass(CHECKPOINT_DELAY_MS * 2 ** tries);
  }
}

/** In the words of the published SDKs. On its last attempt a step that throws has failed. */
function inngestResponse(
  { status, headers, body }: AppResponse,
  { attempt, max_attempts }: CallBody["ctx"],
  version: string | null,
): AppResponse {
  const told = (name: string) => headers[`x-service-${name}`] as string | undefined;
  const isLast = attempt + 1 >= max_attempts;
  const text = status === 206 && isLast ? body.replaceAll('"op":"StepError"', '"op":"StepFailed"') : body;
  const given: Record<string, string> = { "req-version": version ?? told("req-version") ?? "2" };
  const noRetry = told("no-retry");
  if (noRetry !== undefined) given["no-retry"] = noRetry;
  const answer = inngest(status, text, given);
  return headers["retry-after"] === undefined
    ? answer
    : { ...answer, headers: { ...answer.headers, "retry-after": headers["retry-after"] } };
}

function inngest(status: number, body: string, given: Record<string, string>): AppResponse {
  const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [`x-inngest-${name}`, value]));
  return { status, headers: { "x-inngest-sdk": "js:simulated", ...headers }, body };
}
