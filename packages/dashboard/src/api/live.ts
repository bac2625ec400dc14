/**
 * Server-sent events over fetch, because EventSource cannot set a header for the environment. A broken connection
 * resumes after the last message, so nothing is missed, unless it was broken for long: then the stream starts anew, because a list is
 * loaded faster than everything that it missed. A hidden page closes its connection: browsers allow six connections to a server, and a
 * seventh tab would wait forever.
 */

import { ApiError, errorOf, requestOf } from "./client.ts";
import { reportAway, reportContact, whenBack } from "./connection.ts";
import type { JsonText } from "./json-text.ts";

export type LiveState = "connecting" | "live" | "offline";

export interface LiveOptions {
  path: string;
  env: string;
  query?: Record<string, string | undefined>;
  onMessage(data: JsonText): void;
  onState(state: LiveState): void;
  /** The stream starts anew, before it is open: what was sent since the last message is not delivered. */
  onSkip?(): void;
}

const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 15_000;
/** Longer than the time between two heartbeats of the service. */
const RESUME_MAX_MS = 60_000;

/** Returns a function that closes the stream. */
export function follow(options: LiveOptions): () => void {
  const ended = new AbortController();
  void keepFollowing(options, ended.signal);
  return () => ended.abort();
}

async function keepFollowing(options: LiveOptions, signal: AbortSignal): Promise<void> {
  let last: string | null = null;
  let heardAt = Date.now();
  let waitMs = RETRY_FIRST_MS;
  while (!signal.aborted) {
    await untilVisible(signal);
    if (last !== null && Date.now() - heardAt > RESUME_MAX_MS) {
      last = null;
      options.onSkip?.();
    }
    options.onState("connecting");
    const connection = whileVisible(signal);
    try {
      for await (const message of messages(options, last, connection)) {
        waitMs = RETRY_FIRST_MS;
        heardAt = Date.now();
        if (message === "open") options.onState("live");
        else {
          last = message.id ?? last;
          if (message.data !== "") options.onMessage(message.data);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      // A 4xx error is permanent: a missing session, an unknown environment or an unknown route.
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) return options.onState("offline");
    }
    if (signal.aborted) return;
    if (connection.aborted) continue;
    options.onState("offline");
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * 2, RETRY_MAX_MS);
  }
}

async function* messages({ path, env, query }: LiveOptions, last: string | null, signal: AbortSignal) {
  const [url, init] = requestOf(path, { env, signal, ...(query && { query }) });
  const headers = { ...(init.headers as Record<string, string>), accept: "text/event-stream", ...(last && { "last-event-id": last }) };
  const response = await fetch(url, { ...init, headers }).catch((error) => {
    if (!signal.aborted) reportAway();
    throw error;
  });
  if (!response.ok || !response.body) throw errorOf(response.status, await response.text());
  reportContact();
  yield "open" as const;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) yield readMessage(block);
  }
}

function readMessage(block: string): { id: string | null; data: string } {
  const lines = block.split("\n");
  const field = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ""));
  return { id: field("id")[0] ?? null, data: field("data").join("\n") };
}

/** Resolves when the page is visible. */
function untilVisible(signal: AbortSignal): Promise<void> {
  if (document.visibilityState === "visible") return Promise.resolve();
  return new Promise((resolve) => {
    document.addEventListener("visibilitychange", () => resolve(), { once: true, signal });
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Aborts with the signal, or when the page is hidden. */
function whileVisible(signal: AbortSignal): AbortSignal {
  const hidden = new AbortController();
  const onChange = () => {
    if (document.visibilityState === "hidden") hidden.abort();
  };
  document.addEventListener("visibilitychange", onChange, { signal: AbortSignal.any([signal, hidden.signal]) });
  return AbortSignal.any([signal, hidden.signal]);
}

/** Also resolves when an outage ends, so that the stream need not wait for its next try. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const stop = whenBack(done);
    signal.addEventListener("abort", done);
  });
}
