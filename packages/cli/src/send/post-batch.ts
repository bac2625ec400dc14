/**
 * One request to the Event API, sent until it is answered for good. Every try carries the same id seed, which fixes the Event IDs:
 * when a try was stored and its answer lost on the way, the next one is answered with the same ids and stores nothing.
 */

import { randomBytes } from "node:crypto";
import { EVENT_ID_SEED_HEADER } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { EXIT } from "../command-line/command-result.ts";
import { pause } from "../rest/pause.ts";
import { refusal } from "../rest/refusal.ts";
import { asJson, reasonOf } from "../rest/rest-client.ts";

export interface EventTarget {
  url: string;
  key: string;
  env: string | null;
}

export interface PostOptions {
  seed?: string;
  triesMax?: number;
  signal: AbortSignal;
  /** Told before each further try. */
  onRetry?: (reason: string, waitMs: number) => void;
}

const TRIES_MAX = 8;
const TIMEOUT_MS = 30_000;
const WAIT_FIRST_MS = 250;
const WAIT_MAX_MS = 10_000;

export function newSeed(now: number = Date.now()): string {
  return `${now},${randomBytes(10).toString("base64")}`;
}

/** The Event IDs, in order. Throws what the service refused, or why it could not be reached. */
export async function postBatch(target: EventTarget, body: string, options: PostOptions): Promise<string[]> {
  const { seed = newSeed(), triesMax = TRIES_MAX, signal, onRetry } = options;
  let isLost = false;
  for (let tries = 1; ; tries++) {
    const outcome = await post(target, body, seed, signal);
    if ("ids" in outcome) return outcome.ids;
    isLost ||= outcome.isLost;
    if (!outcome.isRetryable || tries >= triesMax || signal.aborted) throw isLost ? answerLost(outcome.fault) : outcome.fault;
    const waitMs = outcome.retryAfterMs ?? Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** (tries - 1));
    onRetry?.(outcome.fault.lines[0] ?? "", waitMs);
    await pause(waitMs, signal);
  }
}

interface Failed {
  fault: CommandFault;
  isRetryable: boolean;
  /** It may have been stored all the same. */
  isLost: boolean;
  retryAfterMs: number | null;
}

type Outcome = { ids: string[] } | Failed;

/** With these the request never left, or was turned away whole. */
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
    const message = `The service at ${base} cannot be reached: ${reasonOf(error)}. Start it, or name it with --url or SERVICE_BASE_URL.`;
    const isLost = !NEVER_SENT.has((error as { cause?: { code?: string } }).cause?.code ?? "");
    return { fault: new CommandFault(message, "service_unreachable", EXIT.unreachable), isRetryable: true, isLost, retryAfterMs: null };
  }
}

function answerLost({ lines, exitCode }: CommandFault): CommandFault {
  return new CommandFault([...lines, "No answer came back, so these events may or may not have been stored."], "answer_lost", exitCode);
}

function retryAfter({ headers }: Response): number | null {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1_000, 60_000) : null;
}
