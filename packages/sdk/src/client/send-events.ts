/**
 * Sends events to the service. Transport failures, 429 and 5xx are retried with the same seed, so an event whose
 * response was lost is not stored twice; any other failure throws a SendError at once.
 */

import { SendError } from "../errors.ts";
import type { EventPayload } from "../events/event-types.ts";
import { SDK_NAME } from "../version.ts";
import { HEADER } from "../wire/headers.ts";
import { randomSeed } from "./event-seed.ts";
import { readSendAnswer } from "./read-send-answer.ts";
import type { FetchAnswer, Settings } from "./settings.ts";

const ATTEMPTS_MAX = 5;
const FIRST_DELAY_MS = 100;
const RETRY_AFTER_MS_MAX = 30_000;
const ATTEMPT_TIMEOUT_MS = 30_000;

export interface SendRequest {
  events: readonly EventPayload[];
  /** Determines the ids; a step passes its own. */
  seed?: string;
  /** The run that sends, if any. */
  runId?: string | undefined;
}

export async function sendEvents(settings: Settings, { events, seed = randomSeed(), runId }: SendRequest): Promise<string[]> {
  if (events.length === 0) return [];
  const url = sendUrl(settings);
  const headers: Record<string, string> = { "content-type": "application/json", [HEADER.sdk]: SDK_NAME, [HEADER.eventIdSeed]: seed };
  if (settings.environment) headers[HEADER.environment] = settings.environment;
  if (runId) headers[HEADER.run] = runId;
  const body = bodyOf(events);
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptSend(settings, url, headers, body, events.length);
    if (Array.isArray(outcome)) return outcome;
    if (!outcome.retryable || attempt === ATTEMPTS_MAX) throw outcome.error;
    await delay(outcome.retryAfterMs ?? backoffMs(attempt));
  }
}

interface Refusal {
  error: SendError;
  retryable: boolean;
  retryAfterMs?: number | undefined;
}

async function attemptSend(
  settings: Settings,
  url: string,
  headers: Record<string, string>,
  body: string,
  count: number,
): Promise<string[] | Refusal> {
  let answer: FetchAnswer;
  let text: string;
  try {
    answer = await settings.fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS) });
    text = await answer.text();
  } catch (cause) {
    const message = `No answer from ${settings.baseUrl}: ${withoutKey(reasonOf(cause), settings)}`;
    const holdsKey = withoutKey(String(cause), settings) !== String(cause);
    return { error: new SendError(message, { code: "connection_failed", ...(!holdsKey && { cause }) }), retryable: true };
  }
  const read = readSendAnswer(answer.status, withoutKey(text, settings), count);
  if (Array.isArray(read)) return read;
  const retryable = answer.status === 429 || answer.status >= 500;
  return { error: read, retryable, retryAfterMs: retryAfterMs(answer.headers.get(HEADER.retryAfter)) };
}

/** Shorter keys, such as those of a dev server, are words that texts contain anyway. */
const KEY_UNITS_MIN = 8;

/** Errors are logged, and must not contain the key. */
function withoutKey(text: string, { eventKey = "" }: Settings): string {
  if (eventKey.length < KEY_UNITS_MIN) return text;
  return [eventKey, encodeURIComponent(eventKey)].reduce((shown, key) => shown.split(key).join("***"), text);
}

function sendUrl({ baseUrl, eventKey, isDev }: Settings): string {
  if (!baseUrl)
    throw new SendError("Where is the service? Set SERVICE_BASE_URL or pass baseUrl; SERVICE_DEV=1 means a local dev server", {
      code: "base_url_missing",
    });
  const key = eventKey ?? (isDev ? "dev" : undefined);
  if (!key)
    throw new SendError("No event key. Set SERVICE_EVENT_KEY or pass eventKey; with a local dev server set SERVICE_DEV=1 instead", {
      code: "event_key_missing",
    });
  return `${baseUrl}/e/${encodeURIComponent(key)}`;
}

function bodyOf(events: readonly EventPayload[]): string {
  try {
    return JSON.stringify(events);
  } catch (cause) {
    throw new SendError(`The events cannot be written as JSON: ${reasonOf(cause)}`, { code: "body_invalid", cause });
  }
}

/** Half fixed, half random, so that many clients do not retry at once. */
function backoffMs(attempt: number): number {
  return FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
}

/** Seconds or an HTTP date; undefined if absent or invalid. */
export function retryAfterMs(header: string | null, nowMs: number = Date.now()): number | undefined {
  if (!header) return undefined;
  const ms = /^\d+(?:\.\d+)?$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** `fetch failed` is not helpful; its cause is. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const cause = thrown.cause;
  if (!(cause instanceof Error)) return thrown.message;
  return cause.message || ("code" in cause && String(cause.code)) || thrown.message;
}
