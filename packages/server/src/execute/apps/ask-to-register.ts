/** Asks an app to register itself: a PUT to its address, upon which its SDK calls back with its functions. */

import { signBody } from "@inlet/protocol";
import type { AppCaller } from "../call/call-app.ts";
import { HEADER_NAMES } from "../call/header-names.ts";
import { NoAnswer } from "../call/no-answer.ts";
import { shownAnswer } from "../call/shown-answer.ts";

const SYNC_TIMEOUT_MS = 10_000;

export interface SyncRequest {
  url: string;
  /** Comes back with the registration, so that the two are known to belong together. */
  deployId: string;
  signingKey: string | null;
  now: number;
}

/** Null when the app says it has registered, else a sentence that says what went wrong. */
export async function askToRegister(
  caller: Pick<AppCaller, "call">,
  { url, deployId, signingKey, now }: SyncRequest,
): Promise<string | null> {
  const body = JSON.stringify({ url });
  const headers: Record<string, string> = { "content-type": "application/json", "user-agent": "Inlet" };
  // Which set of headers the app speaks is only known once it has registered.
  for (const names of Object.values(HEADER_NAMES)) {
    headers[names.serverKind] = signingKey === null ? "dev" : "cloud";
    if (signingKey !== null) headers[names.signature] = signBody(body, signingKey, Math.floor(now / 1_000));
  }
  const target = new URL(url);
  target.searchParams.set("deployId", deployId);
  try {
    const answer = await caller.call({ method: "PUT", url: target.href, headers, body, timeoutMs: SYNC_TIMEOUT_MS });
    if (answer.status >= 200 && answer.status < 300) return null;
    return `The app answered with status ${answer.status}: ${messageIn(answer.body)}`;
  } catch (error) {
    if (error instanceof NoAnswer) return error.message;
    throw error;
  }
}

function messageIn(body: string): string {
  try {
    const { message, error } = JSON.parse(body) as { message?: unknown; error?: unknown };
    const found = [message, error].find((text) => typeof text === "string" && text !== "");
    if (found !== undefined) return shownAnswer(found as string);
  } catch {
    // Not JSON: shown as it is.
  }
  return shownAnswer(body);
}
