/**
 * Asks an app to register: a PUT to its URL. Its SDK then calls back with its functions (out of band), or, if the request is
 * signed and the SDK supports it, responds with them (in band). Such a response is accepted only if it is signed with the request's key.
 */

import { isSignatureOf, signBody } from "@inlet/protocol";
import type { HeaderSet } from "../../store/contract/index.ts";
import type { AppCaller } from "../call/call-app.ts";
import type { SigningKey } from "../call/function-request.ts";
import { HEADER_NAMES } from "../call/header-names.ts";
import { NoAnswer } from "../call/no-answer.ts";
import type { AppAnswer } from "../call/read-answer.ts";
import { shownAnswer } from "../call/shown-answer.ts";

const SYNC_TIMEOUT_MS = 10_000;
const IN_BAND = "in_band";
const ELSEWHERE =
  "The app answered, but registered with another server: its INLET_BASE_URL, or INNGEST_BASE_URL, has to be the address of this one.";

export interface SyncRequest {
  url: string;
  /** Returned with the registration, so that the two can be matched. */
  deployId: string;
  /** In the order in which they are tried: an app that does not have the first key yet is asked with the next. Empty: nothing is signed. */
  signingKeys: readonly SigningKey[];
  now: number;
}

/** The response of an SDK that is synced in band. */
export interface InBandAnswer {
  headers: HeaderSet;
  sdk: string;
  /** The environment that the app names. */
  environment: string | null;
  framework: string | null;
  /** In the form of a registration. */
  registration: { appName: unknown; url: unknown; functions: unknown };
  /** The key that signed the request and the response. */
  signingKey: SigningKey;
}

/** The app reports that it has registered by itself. */
export interface OutOfBand {
  /** The error if it has not. */
  otherwise: string;
}

/** The functions, if the app responded with them; or that it has registered; or a sentence that says what failed. */
export async function askToRegister(
  caller: Pick<AppCaller, "call">,
  { url, deployId, signingKeys, now }: SyncRequest,
): Promise<InBandAnswer | OutOfBand | string> {
  const target = new URL(url);
  target.searchParams.set("deployId", deployId);
  const [newest = null, ...older] = signingKeys;
  let signingKey = newest;
  try {
    let answer = await put(caller, target, { url, signingKey, now });
    for (const key of older) {
      if (answer.status !== 401) break;
      signingKey = key;
      answer = await put(caller, target, { url, signingKey, now });
    }
    return readSync(target, answer, signingKey);
  } catch (error) {
    if (error instanceof NoAnswer) return error.message;
    throw error;
  }
}

function put(
  caller: Pick<AppCaller, "call">,
  target: URL,
  { url, signingKey, now }: { url: string; signingKey: SigningKey | null; now: number },
): Promise<AppAnswer> {
  const body = JSON.stringify({ url });
  const headers: Record<string, string> = { "content-type": "application/json", "user-agent": "Inlet" };
  // The set of headers that the app uses is known only once it has registered.
  for (const names of Object.values(HEADER_NAMES)) {
    headers[names.serverKind] = signingKey === null ? "dev" : "cloud";
    if (signingKey !== null) headers[names.signature] = signBody(body, signingKey.text, Math.floor(now / 1_000));
  }
  if (signingKey !== null) headers[HEADER_NAMES.inngest.syncKind] = IN_BAND;
  return caller.call({ method: "PUT", url: target.href, headers, body, timeoutMs: SYNC_TIMEOUT_MS });
}

function readSync(target: URL, answer: AppAnswer, signingKey: SigningKey | null): InBandAnswer | OutOfBand | string {
  if (answer.status >= 200 && answer.status < 300) {
    const inBand = signingKey === null ? null : readInBand(answer, signingKey);
    return inBand ?? { otherwise: isFromSdk(answer) ? ELSEWHERE : notAnApp(target, answer) };
  }
  if (!isFromSdk(answer)) return notAnApp(target, answer);
  return `The app answered with status ${answer.status}: ${messageIn(answer.body)}`;
}

/** SDKs identify themselves in every response, including errors. */
function isFromSdk({ headers }: AppAnswer): boolean {
  return Object.values(HEADER_NAMES).some(({ sdk }) => headers[sdk] !== undefined);
}

/** Another program listens there, or the app serves its functions at another path. */
function notAnApp({ origin, pathname }: URL, { status, body }: AppAnswer): string {
  const shown = status >= 200 && status < 300 ? "" : ` (${messageIn(body)})`;
  return `${origin} answered with status ${status}${shown}, but no SDK serves functions at ${pathname}. Check the port and the path.`;
}

/** Null if the app registered by itself. */
function readInBand({ headers, body }: AppAnswer, signingKey: SigningKey): InBandAnswer | string | null {
  const names = HEADER_NAMES.inngest;
  if (headers[names.syncKind] !== IN_BAND) return null;
  const signature = headers[names.signature];
  if (typeof signature !== "string" || !isSignatureOf(signature, body, signingKey.text))
    return "The app answered with its functions, but did not sign the answer with the signing key it was asked with.";
  const fields = parsed(body);
  if (!fields) return `The app answered with functions that cannot be read: ${shownAnswer(body)}`;
  const { app_id, url, functions, env, framework, sdk_language, sdk_version } = fields;
  const named = headers[names.sdk];
  return {
    headers: "inngest",
    sdk: typeof named === "string" ? named : `${String(sdk_language)}:v${String(sdk_version)}`,
    environment: typeof env === "string" && env !== "" ? env : null,
    framework: typeof framework === "string" ? framework : null,
    registration: { appName: app_id, url, functions },
    signingKey,
  };
}

function parsed(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function messageIn(body: string): string {
  try {
    const { message, error } = JSON.parse(body) as { message?: unknown; error?: unknown };
    const found = [message, error].find((text) => typeof text === "string" && text !== "");
    if (found !== undefined) return shownAnswer(found as string);
  } catch {
    // Not JSON: shown unchanged.
  }
  return shownAnswer(body);
}
