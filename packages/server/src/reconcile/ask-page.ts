/**
 * Makes the request of one page: under the address rules of apps, at most 1 MB and 30 s. 429 and 503 with `Retry-After` are waited for, up
 * to 60 s for a page; any other response is for the reader. Throws an Error whose message may be shown.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { PageRequest, PageResponse } from "./page-reader.ts";

export interface AskPageParts {
  /** Throws an Error that says why there is no response. */
  fetch(request: PageRequest & { bytesMax: number; signal: AbortSignal }): Promise<{
    status: number;
    headers: Readonly<Record<string, string | string[] | undefined>>;
    body: string;
  }>;
  now(): number;
  limits?: Partial<PageLimits>;
}

export interface PageLimits {
  bytesMax: number;
  timeoutMs: number;
  /** How long all waits for one page may take. */
  waitMs: number;
}

export const PAGE_LIMITS: PageLimits = { bytesMax: 1_048_576, timeoutMs: 30_000, waitMs: 60_000 };
const LATER: ReadonlySet<number> = new Set([429, 503]);

/** `stopping` ends it with an error. */
export async function askPage(parts: AskPageParts, request: PageRequest, stopping: AbortSignal): Promise<PageResponse> {
  const limits = { ...PAGE_LIMITS, ...parts.limits };
  let waitLeftMs = limits.waitMs;
  let waitMsMin = 0;
  for (;;) {
    const response = await askOnce(parts, request, limits, stopping);
    const retryMs = LATER.has(response.status) ? retryAfterMs(response.headers["retry-after"], parts.now()) : null;
    if (retryMs === null) return response;
    if (waitLeftMs <= 0)
      throw new Error(`The provider still answered ${response.status} after ${limits.waitMs / 1_000} s of waiting as it asked.`);
    const waitMs = Math.min(Math.max(retryMs, waitMsMin), waitLeftMs);
    waitLeftMs -= waitMs;
    // A provider that asks for no wait is asked at once only the first time.
    waitMsMin = REPEATED_WAIT_MS_MIN;
    await pause(waitMs, undefined, { signal: stopping });
  }
}

const REPEATED_WAIT_MS_MIN = 1_000;

async function askOnce({ fetch }: AskPageParts, request: PageRequest, limits: PageLimits, stopping: AbortSignal): Promise<PageResponse> {
  const timeout = AbortSignal.timeout(limits.timeoutMs);
  try {
    const { status, headers, body } = await fetch({ ...request, bytesMax: limits.bytesMax, signal: AbortSignal.any([timeout, stopping]) });
    return { status, headers: joined(headers), body };
  } catch (error) {
    if (stopping.aborted) throw new Stopped();
    if (timeout.aborted) throw new Error(`The provider did not answer within ${limits.timeoutMs / 1_000} s.`);
    throw error;
  }
}

/** The service stops: the page is asked for again by whoever continues. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

function retryAfterMs(text: string | undefined, now: number): number | null {
  if (text === undefined || text.trim() === "") return null;
  const seconds = Number(text);
  const ms = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1_000;
  return Number.isNaN(ms) || seconds < 0 ? null : Math.max(ms, 0);
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
