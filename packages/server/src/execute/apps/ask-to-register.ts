/**
 * Asks an app to register: a PUT to its URL. Its SDK then calls back with its functions (out of band), or, if the request is
 * signed and the SDK supports it, responds with them (in band). Such a response is accepted only if it is signed with the request's key.
 */

import { isSignatureOf, signBody } from "@inlet/protocol";
import type { HeaderSet } from "../../store/contract/index.ts";
import type { AppCaller } from "../call/call-app.ts";
import type { SigningKey } from "../call/function-request.ts";
import { HEADER_NAMES } from "../call/header-names.ts";
import { NoResponse } from "../call/no-response.ts";
import type { AppResponse } from "../call/read-response.ts";
import { shownResponse } from "../call/shown-response.ts";

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
export interface InBandResponse {
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
): Promise<InBandResponse | OutOfBand | string> {
  const target = new URL(url);
  target.searchParams.set("deployId", deployId);
  const [newest = null, ...older] = signingKeys;
  let signingKey = newest;
  try {
    let response = await put(caller, target, { url, signingKey, now });
    for (const key of older) {
      if (response.status !== 401) break;
      signingKey = key;
      response = await put(caller, target, { url, signingKey, now });
    }
    return readSync(target, response, signingKey);
  } catch (error) {
    if (error instanceof NoResponse) return error.message;
    throw error;
  }
}

function put(
  caller: Pick<AppCaller, "call">,
  target: URL,
  { url, signingKey, now }: { url: string; signingKey: SigningKey | null; now: number },
): Promise<AppResponse> {
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

function readSync(target: URL, response: AppResponse, signingKey: SigningKey | null): InBandResponse | OutOfBand | string {
  if (response.status >= 200 && response.status < 300) {
    const inBand = signingKey === null ? null : readInBand(response, signingKey);
    return inBand ?? { otherwise: isFromSdk(response) ? ELSEWHERE : notAnApp(target, response) };
  }
  if (!isFromSdk(response)) return notAnApp(target, response);
  return `The app answered with status ${response.status}: ${messageIn(response.body)}`;
}

/** SDKs identify themselves in every response, including errors. */
function isFromSdk({ headers }: AppResponse): boolean {
  return Object.values(HEADER_NAMES).some(({ sdk }) => headers[sdk] !== undefined);
}

/** Another program listens there, or the app serves its functions at another path. */
function notAnApp({ origin, pathname }: URL, { status, body }: AppResponse): string {
  const shown = status >= 200 && status < 300 ? "" : ` (${messageIn(body)})`;
  return `${origin} answered with status ${status}${shown}, but no SDK serves functions at ${pathname}. Check the port and the path.`;
}

/** Null if the app registered by itself. */
function readInBand({ headers, body }: AppResponse, signingKey: SigningKey): InBandResponse | string | null {
  const names = HEADER_NAMES.inngest;
  if (headers[names.syncKind] !== IN_BAND) return null;
  const signature = headers[names.signature];
  if (typeof signature !== "string" || !isSignatureOf(signature, body, signingKey.text))
    return "The app answered with its functions, but did not sign the response with the signing key it was asked with.";
  const fields = parsed(body);
  if (!fields) return `The app answered with functions that cannot be read: ${shownResponse(body)}`;
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
    if (found !== undefined) return shownResponse(found as string);
  } catch {
    // Not JSON: shown unchanged.
  }
  return shownResponse(body);
}
