/**
 * Asks a build of an app for the plan of a run: the call that the service makes, with the stored results, and marked so that the SDK
 * reports the steps it finds and runs none. The service learns nothing of it.
 */

import { canonicalJson, signBody } from "@inlet/protocol";
import { reasonOf } from "../../rest/fetch-fault.ts";
import { asJson } from "../../rest/rest-client.ts";

/** The endpoint of a build. */
export interface Build {
  url: string;
  /** Such as inngest-js:v4.24.0. */
  sdk: string;
  /** The prefix of its headers. */
  headers: "x-service" | "x-inngest";
  /** The id of the app, if it says so. */
  app: string | null;
}

/** The state of a run, as the service gives it to SDKs. */
export interface RunState {
  runId: string;
  functionId: string;
  steps: Readonly<Record<string, unknown>>;
  events: readonly unknown[];
}

export type Plan =
  | { kind: "steps"; ids: ReadonlySet<string> }
  /** The function would end without another step. */
  | { kind: "ends" }
  | { kind: "fault"; reason: string };

const ASK_MS = 30_000;
/** These report steps without running them, and send no checkpoints then. Of others it is not known. */
const ASKABLE = /^(?:(?:inlet|inngest)-)?js:/;

export function isAskable({ sdk }: Build): boolean {
  return ASKABLE.test(sdk);
}

/** The build, or why there is none. */
export async function findBuild(url: string, signingKey: string | null): Promise<Build | string> {
  const response = await send(url, "GET", "", signedHeaders("", signingKey));
  if (typeof response === "string") return response;
  const { app, app_id } = (asJson(response.text) ?? {}) as { app?: unknown; app_id?: unknown };
  const named = [app, app_id].find((name) => typeof name === "string") as string | undefined;
  for (const headers of ["x-service", "x-inngest"] as const) {
    const sdk = response.headers.get(`${headers}-sdk`);
    if (sdk) return { url, sdk, headers, app: named ?? null };
  }
  return `it answers with status ${response.status}, but is not the endpoint of an SDK`;
}

export async function askForPlan(build: Build, { runId, functionId, steps, events }: RunState, signingKey: string | null): Promise<Plan> {
  const stack = Object.keys(steps);
  const context = {
    attempt: 0,
    max_attempts: 1,
    env: "",
    fn_id: "",
    job_id: "check",
    qi_id: "check",
    request_id: `${runId}.check`,
    disable_immediate_execution: true,
    run_id: runId,
    step_id: "step",
    use_api: false,
    stack: { current: stack.length, stack },
  };
  const content = JSON.stringify({ ctx: context, event: events[0], events, steps, use_api: false, version: -1 });
  const body = canonicalJson(content, { exactNumbers: false });
  const target = new URL(build.url);
  target.searchParams.set("fnId", functionId);
  target.searchParams.set("stepId", "step");
  const headers = { ...signedHeaders(body, signingKey), [`${build.headers}-req-version`]: "-1", "content-type": "application/json" };
  const response = await send(target.href, "POST", body, headers);
  return typeof response === "string" ? { kind: "fault", reason: response } : readPlan(response);
}

function readPlan({ status, text }: { status: number; text: string }): Plan {
  const streamed = status === 201 ? (asJson(text) as { status?: number; body?: unknown } | undefined) : undefined;
  const value = streamed?.body === undefined ? asJson(text) : typeof streamed.body === "string" ? asJson(streamed.body) : streamed.body;
  const actual = streamed?.status ?? status;
  if (actual === 206 && Array.isArray(value)) return { kind: "steps", ids: new Set(value.map(({ id }: { id: string }) => id)) };
  if (actual === 200) return { kind: "ends" };
  const { message, error } = (value ?? {}) as { message?: unknown; error?: unknown };
  const said = [message, error].find((one) => typeof one === "string");
  return { kind: "fault", reason: `it answers with status ${actual}${said === undefined ? "" : `: ${said}`}` };
}

function signedHeaders(body: string, signingKey: string | null): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const prefix of ["x-service", "x-inngest"]) {
    headers[`${prefix}-server-kind`] = signingKey === null ? "dev" : "cloud";
    if (signingKey !== null) headers[`${prefix}-signature`] = signBody(body, signingKey, Math.floor(Date.now() / 1_000));
  }
  return headers;
}

async function send(url: string, method: "GET" | "POST", body: string, headers: Record<string, string>) {
  try {
    const signal = AbortSignal.timeout(ASK_MS);
    const response = await fetch(url, { method, headers, redirect: "manual", signal, ...(method === "POST" && { body }) });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    return reasonOf(error, ASK_MS);
  }
}
