/** Posts a copy to the target. Retries while the target is unreachable, so that a restart of the app loses no copy. */

import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { pause } from "../rest/pause.ts";

export interface Delivery {
  url: string;
  /** Appended unchanged to the query of the URL. */
  query?: string;
  /** Alternating names and values. */
  headers: readonly string[];
  body: Buffer | string;
}

export interface DeliverOptions {
  signal: AbortSignal;
  /** Whether a response means "retry later", such as a 503 from Inlet. */
  isLater?: ((status: number) => boolean) | undefined;
  onWait(reason: string): void;
}

export interface Delivered {
  status: number;
  /** The start of the response, for messages. */
  text: string;
}

const WAIT_FIRST_MS = 200;
const WAIT_MAX_MS = 5_000;
const TIMEOUT_MS = 30_000;
const TEXT_UNITS_MAX = 300;

/** Null if interrupted. */
export async function deliver(delivery: Delivery, { signal, isLater = () => false, onWait }: DeliverOptions): Promise<Delivered | null> {
  for (let tries = 0; !signal.aborted; tries++) {
    const outcome = await post(delivery, signal).catch((error: NodeJS.ErrnoException) => error);
    if (!(outcome instanceof Error) && !isLater(outcome.status)) return outcome;
    if (signal.aborted) return null;
    const reason = outcome instanceof Error ? outcome.code || outcome.message : `it returned ${outcome.status}`;
    if (tries === 0) onWait(reason === "ECONNREFUSED" ? "connection refused" : reason);
    await pause(Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** tries), signal);
  }
  return null;
}

/**
 * Uses node:http, because fetch adds and forbids headers, and a copy must match the original. Headers and path are
 * sent unchanged; a URL object would normalise them, for example `'` to `%27`.
 */
function post({ url, query = "", headers, body }: Delivery, signal: AbortSignal): Promise<Delivered> {
  const { host, pathname, search } = new URL(url);
  const path = `${pathname}${search}${query === "" ? "" : `${search === "" ? "?" : "&"}${query}`}`;
  const bytes = Buffer.from(body);
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const all = ["Host", host, ...headers, "Content-Length", String(bytes.length)];
    const options = { method: "POST", path, headers: all, signal, timeout: TIMEOUT_MS };
    const outgoing = send(url, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => (text = (text + chunk).slice(0, TEXT_UNITS_MAX)));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on("error", reject);
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no response within ${TIMEOUT_MS / 1_000} s`)));
    outgoing.on("error", reject);
    outgoing.end(bytes);
  });
}
