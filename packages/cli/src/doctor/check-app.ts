/**
 * Checks an app that is to move from Inngest: whether it is reachable, is an SDK's endpoint and accepts the signing key, and how its
 * functions would behave here. The requests are those of a sync: GET for its description, a signed PUT for its functions.
 */

import { signBody } from "@inlet/protocol";
import { examineFunction } from "@inlet/server/registration";
import { reasonOf } from "../rest/fetch-fault.ts";
import { asJson } from "../rest/rest-client.ts";
import { type Finding, note, ok, problem, skipped, warning } from "./finding.ts";

const ASK_MS = 10_000;
const SDK_HEADERS = ["x-inngest-sdk", "x-service-sdk", "x-inngest-sdk-handled"];

interface AppResponse {
  status: number;
  sdk: string | null;
  isInBand: boolean;
  body: Record<string, unknown>;
}

export async function checkApp(url: string, signingKey: string | null): Promise<Finding[]> {
  const introspected = await ask(url, "GET", signingKey);
  if (typeof introspected === "string") {
    const advice = "Start the app, or correct the URL, including its path, as in http://localhost:3000/api/inngest.";
    return [problem("app", `${url} cannot be reached: ${introspected}`, advice)];
  }
  if (introspected.sdk === null) return [notAnEndpoint(url, introspected)];
  const found = [ok("app", `${url} is served by ${introspected.sdk}`), ...checkKeys(introspected, signingKey)];
  if (found.some(({ status }) => status === "problem")) return found;
  return [...found, ...(await checkFunctions(url, signingKey)), ...GENERAL];
}

function notAnEndpoint(url: string, { status }: AppResponse): Finding {
  const advice = "Use the URL at which serve() responds, usually /api/inngest. A proxy must pass on the SDK's headers.";
  return problem("app", `${url} answers with status ${status}, but is not the endpoint of an SDK`, advice);
}

const SET_KEY = "Set INLET_SIGNING_KEY (for Inngest's SDKs INNGEST_SIGNING_KEY) of the app to the key of Inlet.";
const LEAVE_DEV = "Where it is deployed, set INLET_DEV=0 (for Inngest's SDKs INNGEST_DEV=0).";

/** What the app reports about its keys. SDKs use two spellings. */
function checkKeys({ status, body }: AppResponse, signingKey: string | null): Finding[] {
  const isDev = body.mode === "dev";
  const hasKey = body.has_signing_key === true || body.hasSigningKey === true;
  if (status === 401 || body.authentication_succeeded === false) {
    return [
      signingKey === null
        ? problem("signing key", "the app accepts only signed requests", "Set its key with --signing-key or INLET_SIGNING_KEY.")
        : problem("signing key", "the app refuses the signature: it has a different key", SET_KEY),
    ];
  }
  if (isDev) return [warning("mode", "the app is in dev mode and accepts unsigned calls", LEAVE_DEV)];
  if (!hasKey) return [problem("signing key", "the app has none", SET_KEY)];
  if (signingKey === null) return [skipped("signing key", "not checked; use --signing-key or INLET_SIGNING_KEY")];
  return [ok("signing key", "the app accepts it")];
}

async function checkFunctions(url: string, signingKey: string | null): Promise<Finding[]> {
  const answer = await ask(url, "PUT", signingKey);
  if (typeof answer === "string") return [problem("functions", `the app did not answer: ${answer}`, "See the app's log.")];
  if (!answer.isInBand || !Array.isArray(answer.body.functions)) return [notInBand(answer)];
  const { functions } = answer.body;
  if (functions.length === 0) return [warning("functions", "the app serves none", "Pass its functions to serve().")];
  return functions.flatMap(checkFunction);
}

function notInBand({ status, body }: AppResponse): Finding {
  const said = [body.message, body.error].find((text) => typeof text === "string" && text !== "");
  const why =
    status >= 400 ? `the app refused (status ${status}${said ? `: ${said}` : ""})` : "its SDK does not respond with its functions";
  return warning(
    "functions",
    `not checked: ${why}`,
    'Sync it with "inlet apps sync <url>": what cannot be honoured is refused with a reason.',
  );
}

function checkFunction(registered: unknown): Finding[] {
  const { id, triggers, settings, differences } = examineFunction(registered);
  const check = `function ${id}`;
  const starts = triggers.length > 0 ? triggers.join(", ") : "invoked only";
  return [
    ...(settings.length > 0 ? [ok(check, `${starts}; ${settings.join(", ")}`)] : []),
    ...differences.map(({ kind, sentence, advice }) => (kind === "unsupported" ? problem : warning)(check, sentence, advice)),
  ];
}

/** Applies to every app. docs/tutorials/from-inngest.md has the full list. */
const GENERAL: readonly Finding[] = [
  note("events", "an event whose id was seen in the last 24 hours is not stored again and starts nothing"),
  note("events", "the response to a send means that its events are on disk; a batch is stored whole or not at all"),
  note("runs", "unfinished runs are not moved: let them finish where they are"),
];

/** The response, or the reason why there is none. */
async function ask(url: string, method: "GET" | "PUT", signingKey: string | null): Promise<AppResponse | string> {
  const body = method === "PUT" ? JSON.stringify({ url }) : "";
  const headers: Record<string, string> = { ...(method === "PUT" && { "content-type": "application/json" }) };
  for (const prefix of ["x-inngest", "x-service"]) {
    headers[`${prefix}-server-kind`] = signingKey === null ? "dev" : "cloud";
    if (method === "PUT") headers[`${prefix}-sync-kind`] = "in_band";
    if (signingKey !== null) headers[`${prefix}-signature`] = signBody(body, signingKey, Math.floor(Date.now() / 1_000));
  }
  try {
    const signal = AbortSignal.timeout(ASK_MS);
    const response = await fetch(url, { method, headers, redirect: "manual", signal, ...(method === "PUT" && { body }) });
    const value = asJson(await response.text());
    const sdk = SDK_HEADERS.map((name) => response.headers.get(name)).find((text) => text !== null) ?? null;
    return {
      status: response.status,
      sdk: sdk === "true" ? "an SDK" : sdk,
      isInBand: response.headers.get("x-inngest-sync-kind") === "in_band",
      body: typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {},
    };
  } catch (error) {
    return reasonOf(error, ASK_MS);
  }
}
