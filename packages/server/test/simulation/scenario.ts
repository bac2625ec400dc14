/** What one simulation consists of: functions as data, the events sent to them, and when what goes wrong. Made from a seed, or written by hand. */

import type { Deeds } from "./deeds/deeds.ts";

/** Which SDK serves a function: ours, or one that speaks as the published ones do. */
export const SDKS = ["own", "v3", "v4"] as const;
/** One more app serves the functions of a branch environment, and one the function that has a schedule. */
export const APPS = [...SDKS, "mirror", "schedule"] as const;
export type SdkName = (typeof APPS)[number];
export const APP_OF_SCHEDULE = "schedule";
export const BRANCH = "feature/mirror";

/** A function's code. Both the apps and the model run it; every node has a JSON value. */
export type Code =
  | RunCode
  | { kind: "sleep"; id: string; ms: number }
  | { kind: "wait"; id: string; event: string; by: "match" | "if" | "any"; timeoutMs: number }
  | { kind: "invoke"; id: string; fn: string; timeoutMs: number | null }
  | { kind: "send"; id: string; event: string }
  | { kind: "signal"; id: string; signal: string; onConflict: "fail" | "replace"; timeoutMs: number }
  /** Asks a person. */
  | { kind: "ask"; id: string; timeoutMs: number }
  /** Sends a signal to whoever waits for it. */
  | { kind: "tell"; id: string; signal: string }
  | FetchCode
  /** Starts a function that does one step when the run has ended, unless it is dropped again. */
  | { kind: "defer"; id: string; isDropped: boolean }
  | { kind: "sequence"; parts: readonly Code[] }
  | { kind: "all" | "race"; parts: readonly Code[] }
  | { kind: "loop"; times: number; part: Code }
  | { kind: "try"; part: Code; otherwise: Code }
  /** Throws in every call whose attempt is lower; 99: always. */
  | { kind: "throw"; fails: number; final: boolean };

export interface RunCode {
  kind: "run";
  id: string;
  /** Fails in every attempt before this one; 99: always. */
  fails: number;
  error: "plain" | "final" | "retry-after";
  tookMs: number;
  /** How long it takes the first time it runs, where that differs. */
  firstTookMs?: number;
  /** How large its result is made. */
  bytes?: number;
}

/** A request that the service makes. Its id is the SDK's. */
export interface FetchCode {
  kind: "fetch";
  id: typeof FETCH_ID;
  /** So many requests get no response; 99: none does. */
  fails: number;
  status: number;
  tookMs: number;
}

export const FETCH_ID = "step.fetch: api";

export interface Flow {
  concurrency?: SimLimit | [SimLimit, SimLimit] | { fn: [{ limit: number; key?: string }]; step?: SimLimit[] };
  throttle?: { limit: number; period: string; burst?: number; key?: string };
  rateLimit?: { limit: number; period: string; key?: string };
  debounce?: { period: string; key?: string; timeout?: string };
  batchEvents?: { maxSize: number; timeout: string; key?: string };
  priority?: { run: string };
  singleton?: { key?: string; mode: "skip" | "cancel" };
  timeouts?: { start?: string; finish?: string };
  ordering?: { key: string; onFailure: "continue" | "hold" };
}

export interface SimLimit {
  limit: number;
  key?: string;
  scope?: "fn" | "env" | "account";
}

export interface SimFunction {
  id: string;
  sdk: SdkName;
  /** Null: it is only ever invoked. */
  trigger: { event: string; onlyOdd: boolean } | null;
  /** It is started every so many minutes. */
  everyMinutes?: number;
  retries: number;
  code: Code;
  onFailure: boolean;
  cancelOn: { event: string; by: "match" | "any"; timeout?: string } | null;
  flow: Flow;
}

export interface Outage {
  atMs: number;
  /** Which node; the first one if absent. */
  node?: number;
  /** `cut-off`: the node cannot reach its store for that long. `stall`: its store answers nothing before that, and everything after it. */
  kind: "kill" | "stop" | "cut-off" | "stall";
  /** Turns of the event loop into what happens at that instant. */
  turns: number;
  downMs: number;
}

/** How likely a call meets each of these. */
export interface NetworkFaults {
  /** The request never arrives. */
  lost: number;
  /** The connection is cut while the app works; the app goes on. */
  cut: number;
  /** The app works, and its response never arrives. */
  hang: number;
  /** Something between repeats the request, and one of the responses is thrown away. */
  twice: number;
  latencyMs: number;
}

/** Kinds of deeds that are absent are not done. */
export interface Scenario extends Pick<Deeds, "events">, Partial<Omit<Deeds, "events">> {
  seed: number;
  functions: readonly SimFunction[];
  outages: readonly Outage[];
  /** Spans in which the store refuses. */
  refusals: readonly { atMs: number; forMs: number }[];
  network: NetworkFaults;
  /** How likely several timers go off before what the first led to has happened. */
  jumble: number;
  callTimeoutMs: number;
  /** Calls whose connection is cut for sure, the first of each name (see callName), and after how long. */
  cuts?: Readonly<Record<string, number>>;
  /** Apps that take no notice when the service tells them to fetch what a call could not carry. */
  ignoreUseApi?: boolean;
  /** How many nodes share the store; one if absent. */
  nodes?: number;
  /** Time is not virtual: stores that are reached over a network need that. */
  isRealTime?: boolean;
  /** How likely a statement costs its node the connection to the store, in real time; never if absent. */
  connectionCuts?: number;
  /** How long work stays with a node that died; the default if absent. */
  leaseMs?: number;
  /** How long it takes until the service is told that a change of a run, or a request of a webhook, is written; none if absent. */
  writeMs?: number;
  /** Delay before a failed call is tried again, instead of the backoff table. */
  retryMs?: number;
}

/** Events and runs are removed. */
export function removes({ retentions = [], quotas = [] }: Pick<Scenario, "retentions" | "quotas">): boolean {
  return retentions.length > 0 || quotas.some(({ quota }) => quota === "storedBytes");
}

/** Somebody asks for jobs. */
export function hasJobs({ jobs = [], erasures = [], hooks = [], drills = [] }: Scenario): boolean {
  return jobs.length + erasures.length + hooks.length + drills.length > 0;
}

/** Something happens in a branch environment. */
export function hasBranch({ hooks = [], drills = [] }: Scenario): boolean {
  return hooks.length + drills.length > 0;
}

/** How long it takes on a busy machine until nodes know what one of them has changed. */
export const REAL_TELLING_MS = 3_000;

export const QUIET_NETWORK: NetworkFaults = { lost: 0, cut: 0, hang: 0, twice: 0, latencyMs: 3 };

/** What the wire calls a function. */
export function fullId({ sdk, id }: Pick<SimFunction, "sdk" | "id">): string {
  return `${sdk}-${id}`;
}

/** Signals have keys, as events do. */
export function signalName(signal: string, key: number): string {
  return `${signal} ${key}`;
}

/** What the service asks for. */
export function fetchUrl({ fails, status, tookMs }: FetchCode, runId: string, step: string): string {
  return `http://api/${fails}/${status}/${tookMs}/${runId}/${encodeURIComponent(step)}`;
}

/** Every node of the code, outermost first. */
export function codeNodes(code: Code): Code[] {
  switch (code.kind) {
    case "sequence":
    case "all":
    case "race":
      return [code, ...code.parts.flatMap(codeNodes)];
    case "loop":
      return [code, ...codeNodes(code.part)];
    case "try":
      return [code, ...codeNodes(code.part), ...codeNodes(code.otherwise)];
    default:
      return [code];
  }
}
