/** Processes an app's registration: reads every function, and either refuses the whole with a reason for each fault, or stores it. */

import { createHash } from "node:crypto";
import { type AppId, type EnvironmentId, type Fault, hasCredentials, isDeeperThan, Refusal } from "@inlet/protocol";
import type { App, AppStore, HeaderSet, NewFunction } from "../store/contract/index.ts";
import { type FunctionConfig, readFunctionConfig } from "./function-config.ts";
import type { Registry } from "./registry.ts";
import { nextTick } from "./starts/crons.ts";

/** A registration without faults. */
export interface Registration {
  appName: string;
  url: string;
  headers: HeaderSet;
  functions: NewFunction[];
}

/** Where an app registers, and what its request says beside the registration. */
export interface Registering {
  environmentId: EnvironmentId;
  sdk: string;
  framework: string | null;
  /** The key that it registered with; null on a dev server. */
  signingKeyId: App["signingKeyId"];
}

export interface RegisterAppParts {
  store: AppStore;
  registry: Registry;
  newId(): string;
  now(): number;
}

const FUNCTIONS_MAX = 1_000;
/** The id of a function begins with it. */
const NAME_UNITS_MAX = 255;
const URL_UNITS_MAX = 8_192;
/** Deeper than any setting of a function. What is deeper would overflow the stack of whoever writes it as JSON. */
const DEPTH_MAX = 100;

/** `given`: the body of the request, parsed. Writes nothing. */
export function readRegistration(given: unknown, { headers, now }: { headers: HeaderSet; now: number }): Registration | Refusal {
  if (isDeeperThan(given, DEPTH_MAX)) return refusal([{ field: "body", message: `A registration is nested at most ${DEPTH_MAX} deep.` }]);
  const body = readBody(withoutDeployId(given));
  if (body instanceof Refusal) return body;
  const faults: Fault[] = [];
  const isStrict = headers === "service";
  const functions = body.functions.flatMap((registered, index) => {
    const read = readFunctionConfig(registered, { isStrict });
    if ("config" in read) return [newFunction(registered, read.config, now)];
    for (const message of read.faults) faults.push({ index, field: "functions", message });
    return [];
  });
  for (const repeated of repeatedIds(functions))
    faults.push({ field: "functions", message: `The function ${repeated} is registered twice.` });
  return faults.length > 0 ? refusal(faults) : { ...body, headers, functions };
}

export async function registerApp(
  { store, registry, newId, now }: RegisterAppParts,
  { appName, url, headers, functions }: Registration,
  { environmentId, sdk, framework, signingKeyId }: Registering,
): Promise<{ app: App; modified: boolean }> {
  const synced = await store.appSync({
    id: `app_${newId()}` as AppId,
    environmentId,
    name: appName,
    url,
    headers,
    sdk: shownText(sdk),
    framework: framework && shownText(framework),
    checksum: checksumOf([url, sdk, framework, functions.map(({ config }) => config)]),
    functions,
    syncedAt: now(),
    signingKeyId,
  });
  await registry.refresh();
  return synced;
}

/** SDKs add the id of the sync to every URL they report; if it were stored, each sync would look like a change. */
function withoutDeployId(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (key, value: unknown) => {
    if (key !== "url" || typeof value !== "string" || !value.includes("deployId=") || !URL.canParse(value)) return value;
    const url = new URL(value);
    url.searchParams.delete("deployId");
    return url.href;
  });
}

function readBody(body: unknown): { appName: string; url: string; functions: unknown[] } | Refusal {
  // SDKs write field names in different cases: the Python SDK writes `appname`.
  const fields = new Map(
    Object.entries(typeof body === "object" && body !== null ? body : {}).map(([key, value]) => [key.toLowerCase(), value]),
  );
  const [appName, url, functions]: unknown[] = [fields.get("appname"), fields.get("url"), fields.get("functions")];
  const faults: Fault[] = [];
  if (typeof appName !== "string" || appName === "") faults.push({ field: "appName", message: "The app's id is required." });
  else if (appName.length > NAME_UNITS_MAX)
    faults.push({ field: "appName", message: `The app's id has at most ${NAME_UNITS_MAX} characters.` });
  if (typeof url !== "string" || url.length > URL_UNITS_MAX || !isHttpUrl(url))
    faults.push({ field: "url", message: `The app's http(s) address is required, with at most ${URL_UNITS_MAX} characters.` });
  else if (hasCredentials(url))
    faults.push({
      field: "url",
      message: "The app's address must not contain a user name or a password: everybody who sees apps would see them.",
    });
  if (!Array.isArray(functions)) faults.push({ field: "functions", message: "A list of functions is required." });
  else if (functions.length > FUNCTIONS_MAX) faults.push({ field: "functions", message: `An app has at most ${FUNCTIONS_MAX} functions.` });
  if (faults.length > 0) return refusal(faults);
  return { appName: appName as string, url: url as string, functions: functions as unknown[] };
}

function newFunction(registered: unknown, { id, name, triggers }: FunctionConfig, now: number): NewFunction {
  const crons = triggers.flatMap((trigger) => {
    const dueAt = "cron" in trigger ? nextTick(trigger.cron, now) : null;
    return "cron" in trigger && dueAt !== null ? [{ cron: trigger.cron, dueAt }] : [];
  });
  return { id, name, config: JSON.stringify(registered), crons };
}

function repeatedIds(functions: readonly NewFunction[]): string[] {
  const ids = functions.map(({ id }) => id);
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))];
}

function refusal(faults: readonly Fault[]): Refusal {
  return new Refusal("registration_invalid", faults.map(({ message }) => message).join(" "), faults);
}

function checksumOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\0]*$/.test(text) && URL.canParse(text);
}

/** What an app says of itself is only shown; no database stores U+0000. */
function shownText(text: string): string {
  return text.replaceAll("\0", "");
}
