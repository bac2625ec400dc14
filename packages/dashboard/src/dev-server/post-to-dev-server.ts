/** A request from this browser to a dev server. */

import type { JsonText } from "../api/json-text.ts";

const TIMEOUT_MS = 10_000;

export type Posted<Body> = { ok: true; body: Body } | { ok: false; message: string };

/** Without a content type of its own this is a simple request, which needs no CORS preflight. */
export async function postToDevServer<Body>(url: string, text: JsonText): Promise<Posted<Body>> {
  try {
    const response = await fetch(url, { method: "POST", body: text, signal: AbortSignal.timeout(TIMEOUT_MS) });
    const body = (await response.json()) as Body & { error?: string };
    if (response.ok) return { ok: true, body };
    return { ok: false, message: body.error ?? `The dev server refused it with status ${response.status}.` };
  } catch {
    const message = `${new URL(url).origin} did not accept it. It is not running, or the browser was not allowed to reach it.`;
    return { ok: false, message };
  }
}
