/**
 * Sends events to the service. Transport failures that may be temporary, 429 and 5xx are retried with the same seed, so an event
 * whose response was lost is not stored twice; any other failure throws a SendError at once.
 */

import { SendError } from "../errors.ts";
import type { EventPayload } from "../events/event-types.ts";
import { SDK_NAME } from "../version.ts";
import { HEADER } from "../wire/headers.ts";
import { randomSeed } from "./event-seed.ts";
import { permanentFault } from "./permanent-fault.ts";
import { readSendResponse } from "./read-send-response.ts";
import type { Settings } from "./settings.ts";

const ATTEMPTS_MAX = 5;
const FIRST_DELAY_MS = 100;
/** A quota that is used up for longer is an error that the caller should see. */
const RETRY_AFTER_MS_MAX = 60_000;
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
  let answer: { status: number; text: string; retryAfter: string | null };
  try {
    answer = await settings.environment.ask(async (environment) => {
      const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
      const response = await settings.fetch(url, { method: "POST", headers: { ...headers, ...environment }, body, signal });
      return { status: response.status, text: await response.text(), retryAfter: response.headers.get(HEADER.retryAfter) };
    });
  } catch (cause) {
    const permanent = permanentFault(cause);
    const message = `No response from ${settings.baseUrl}: ${permanent ?? withoutKey(reasonOf(cause), settings)}`;
    const holdsKey = withoutKey(String(cause), settings) !== String(cause);
    return { error: new SendError(message, { code: "connection_failed", ...(!holdsKey && { cause }) }), retryable: !permanent };
  }
  const read = readSendResponse(answer.status, withoutKey(answer.text, settings), count);
  if (Array.isArray(read)) return read;
  const waitMs = retryAfterMs(answer.retryAfter);
  const retryable = answer.status >= 500 || (answer.status === 429 && (waitMs ?? 0) <= RETRY_AFTER_MS_MAX);
  return { error: read, retryable, retryAfterMs: waitMs && Math.min(waitMs, RETRY_AFTER_MS_MAX) };
}

/** Shorter keys, such as those of a dev server, are words that texts contain anyway. */
const KEY_UNITS_MIN = 8;

/** Errors are logged, and must not contain the key. */
function withoutKey(text: string, { eventKey = "" }: Settings): string {
  if (eventKey.length < KEY_UNITS_MIN) return text;
  return [eventKey, encodeURIComponent(eventKey)].reduce((shown, key) => shown.split(key).join("***"), text);
}

function sendUrl({ baseUrl, eventKey, isDev }: Settings): string {
  const key = eventKey ?? (isDev ? "dev" : undefined);
  if (!key)
    throw new SendError(
      "No event key. Set SERVICE_EVENT_KEY (or INLET_EVENT_KEY) or pass eventKey; with a local dev server set INLET_DEV=1 instead",
      {
        code: "event_key_missing",
      },
    );
  if (!baseUrl)
    throw new SendError(
      "The address of the service is not set. Set INLET_BASE_URL or pass baseUrl; with a local dev server set INLET_DEV=1 instead",
      {
        code: "base_url_missing",
      },
    );
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
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
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
