/** Posts a copy to the target, and waits while nobody answers there: an app that is being restarted must not cost a copy. */

import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { pause } from "../rest/pause.ts";

export interface Delivery {
  url: string;
  /** Added to that of the URL as it is. */
  query?: string;
  /** Names and values in turn. */
  headers: readonly string[];
  body: Buffer | string;
}

export interface DeliverOptions {
  signal: AbortSignal;
  /** Whether an answer means "later", as an Inlet's 503 does. */
  isLater?: ((status: number) => boolean) | undefined;
  onWait(reason: string): void;
}

export interface Delivered {
  status: number;
  /** The beginning of the answer, for people. */
  text: string;
}

const WAIT_FIRST_MS = 200;
const WAIT_MAX_MS = 5_000;
const TIMEOUT_MS = 30_000;
const TEXT_UNITS_MAX = 300;

/** Null when somebody asked to stop. */
export async function deliver(delivery: Delivery, { signal, isLater = () => false, onWait }: DeliverOptions): Promise<Delivered | null> {
  for (let tries = 0; !signal.aborted; tries++) {
    const outcome = await post(delivery, signal).catch((error: NodeJS.ErrnoException) => error);
    if (!(outcome instanceof Error) && !isLater(outcome.status)) return outcome;
    if (signal.aborted) return null;
    const reason = outcome instanceof Error ? outcome.code || outcome.message : `it answered ${outcome.status}`;
    if (tries === 0) onWait(reason === "ECONNREFUSED" ? "nothing listens there" : reason);
    await pause(Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** tries), signal);
  }
  return null;
}

/**
 * Node's own client, because fetch adds headers and forbids others: a copy must arrive as the original did. A list of headers is
 * written as it is, and a path too; a URL would be written anew, `'` as `%27`.
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
    outgoing.on("timeout", () => outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS / 1_000} s`)));
    outgoing.on("error", reject);
    outgoing.end(bytes);
  });
}
