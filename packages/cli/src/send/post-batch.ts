/**
 * One request to the Event API, retried until it gets a final response. Every attempt carries the same id seed, which
 * fixes the Event IDs. If an attempt was stored but its response was lost, the next one returns the same ids and stores nothing.
 */

import { randomBytes } from "node:crypto";
import { EVENT_ID_SEED_HEADER } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { EXIT } from "../command-line/command-result.ts";
import { isPermanent, reasonOf } from "../rest/fetch-fault.ts";
import { pause } from "../rest/pause.ts";
import { refusal } from "../rest/refusal.ts";
import { asJson } from "../rest/rest-client.ts";

export interface EventTarget {
  url: string;
  key: string;
  env: string | null;
}

export interface PostOptions {
  seed?: string;
  triesMax?: number;
  signal: AbortSignal;
  /** Called before each retry. */
  onRetry?: (reason: string, waitMs: number) => void;
}

const TRIES_MAX = 8;
const TIMEOUT_MS = 30_000;
/** How long to try while nothing listens at the address: a service that restarts is back sooner. */
const REFUSED_MS_MAX = 5_000;
const WAIT_FIRST_MS = 250;
const WAIT_MAX_MS = 10_000;

export function newSeed(now: number = Date.now()): string {
  return `${now},${randomBytes(10).toString("base64")}`;
}

/** Returns the Event IDs in order. Throws if the service refuses the request or is unreachable. */
export async function postBatch(target: EventTarget, body: string, options: PostOptions): Promise<string[]> {
  const { seed = newSeed(), triesMax = TRIES_MAX, signal, onRetry } = options;
  let isLost = false;
  const startedAt = Date.now();
  for (let tries = 1; ; tries++) {
    const outcome = await post(target, body, seed, signal);
    if ("ids" in outcome) return outcome.ids;
    isLost ||= outcome.isLost;
    const isOver = tries >= triesMax || signal.aborted || (outcome.isRefused && Date.now() - startedAt >= REFUSED_MS_MAX);
    if (!outcome.isRetryable || isOver) throw isLost ? responseLost(outcome.fault) : outcome.fault;
    const waitMs = outcome.retryAfterMs ?? Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** (tries - 1));
    const boundedMs = outcome.isRefused ? Math.min(waitMs, Math.max(0, startedAt + REFUSED_MS_MAX - Date.now())) : waitMs;
    onRetry?.(outcome.fault.lines[0] ?? "", boundedMs);
    await pause(boundedMs, signal);
  }
}

interface Failed {
  fault: CommandFault;
  isRetryable: boolean;
  /** The request may still have been stored. */
  isLost: boolean;
  retryAfterMs: number | null;
  /** Nothing listens at the address. */
  isRefused?: boolean;
}

type Outcome = { ids: string[] } | Failed;

/** With these codes the request was not sent, or was refused as a whole. */
const NEVER_SENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);
const TURNED_AWAY: ReadonlySet<number> = new Set([429, 503]);

async function post({ url, key, env }: EventTarget, body: string, seed: string, signal: AbortSignal): Promise<Outcome> {
  const base = url.replace(/\/+$/, "");
  try {
    const response = await fetch(`${base}/e/${encodeURIComponent(key)}`, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        "content-type": "application/json",
        [EVENT_ID_SEED_HEADER]: seed,
        ...(env !== null && { "x-service-env": env }),
      },
      body,
    });
    const answer = asJson(await response.text()) as { ids?: string[] } | undefined;
    if (response.ok && answer?.ids) return { ids: answer.ids };
    const isRetryable = response.status >= 500 || response.status === 429;
    const isLost = isRetryable && !TURNED_AWAY.has(response.status);
    return { fault: refusal(base, response.status, answer), isRetryable, isLost, retryAfterMs: retryAfter(response) };
  } catch (error) {
    const message = `The service at ${base} cannot be reached: ${reasonOf(error, TIMEOUT_MS)}. Start it, or set its URL with --url or INLET_BASE_URL.`;
    const code = (error as { cause?: { code?: string } }).cause?.code ?? "";
    const fault = new CommandFault(message, "service_unreachable", EXIT.unreachable);
    if (isPermanent(error)) return { fault, isRetryable: false, isLost: false, retryAfterMs: null };
    return { fault, isRetryable: true, isLost: !NEVER_SENT.has(code), retryAfterMs: null, isRefused: code === "ECONNREFUSED" };
  }
}

function responseLost({ lines, exitCode }: CommandFault): CommandFault {
  return new CommandFault([...lines, "There was no response, so these events may have been stored."], "answer_lost", exitCode);
}

function retryAfter({ headers }: Response): number | null {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1_000, 60_000) : null;
}
