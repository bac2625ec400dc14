/** Checks of the service at --url: health, readiness, clock, keys, environment, apps. */

import type { App } from "../apps/apps-commands.ts";
import { CommandFault } from "../command-line/command-fault.ts";
import { reasonOf } from "../rest/fetch-fault.ts";
import { asJson, type Connection, createRestClient, type RestClient } from "../rest/rest-client.ts";
import { checkCluster } from "./check-cluster.ts";
import { checkSigningKeys } from "./check-signing-keys.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

const PROBE_TIMEOUT_MS = 5_000;
/** The Date header has a resolution of one second, and the response takes time. */
const SKEW_WARNING_MS = 5_000;
const SKEW_PROBLEM_MS = 60_000;
const WITHOUT_KEY: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** `isOptional`: a service that is not there is no problem. */
export async function checkService(connection: Connection, key: string | null, isOptional = false): Promise<Finding[]> {
  const rest = createRestClient(connection);
  const health = await probe(`${rest.base}/health`);
  if (typeof health === "string" && isOptional) return [skipped("service", `${rest.base} cannot be reached: ${health}`)];
  if (typeof health === "string") {
    const advice = 'Start it with "inlet start" or "inlet dev", or name another with --url or INLET_BASE_URL.';
    return [problem("service", `${rest.base} cannot be reached: ${health}`, advice)];
  }
  if (!isInlet(health)) {
    return [
      problem(
        "service",
        `${rest.base} responds, but is not an Inlet service`,
        "Set --url or INLET_BASE_URL, including any path that a proxy adds.",
      ),
    ];
  }
  return [
    ...(await checkReady(rest.base)),
    checkClock(health.date),
    await checkApiKey(rest, connection),
    await checkEventKey(rest.base, connection, key),
    ...(await checkApps(rest)),
    ...(await checkSigningKeys(connection)),
  ];
}

interface Probed {
  status: number;
  body: unknown;
  date: string | null;
}

/** The response, or the reason why there is none. */
export async function probe(url: string, init: RequestInit = {}): Promise<Probed | string> {
  try {
    const response = await fetch(url, { redirect: "manual", ...init, signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    return { status: response.status, body: asJson(await response.text()), date: response.headers.get("date") };
  } catch (error) {
    return reasonOf(error, PROBE_TIMEOUT_MS);
  }
}

export function isInlet(probed: Probed): boolean {
  return (probed.body as { message?: string } | undefined)?.message === "OK" && probed.status === 200;
}

async function checkReady(base: string): Promise<Finding[]> {
  const ready = await probe(`${base}/ready`);
  if (typeof ready !== "string" && ready.status === 200) {
    return [ok("service", `${base} is running and ready`), ...checkCluster(ready.body ?? {})];
  }
  const said = typeof ready === "string" ? ready : ((ready.body as { error?: string } | undefined)?.error ?? `status ${ready.status}`);
  const advice = "See its log. A full or read-only disk is the usual reason.";
  return [problem("service", `${base} is running, but not ready: ${said}`, advice)];
}

export function checkClock(date: string | null, now: number = Date.now()): Finding {
  const skewMs = date === null ? Number.NaN : now - Date.parse(date);
  if (Number.isNaN(skewMs)) return skipped("clock", "the service's responses have no Date header");
  const text = `${Math.abs(Math.round(skewMs / 1_000))} s ${skewMs > 0 ? "ahead of" : "behind"} the service`;
  const advice = "Synchronise both clocks with NTP. Signatures and time filters depend on it.";
  if (Math.abs(skewMs) >= SKEW_PROBLEM_MS) return problem("clock", `this machine is ${text}`, advice);
  return Math.abs(skewMs) >= SKEW_WARNING_MS
    ? warning("clock", `this machine is ${text}`, advice)
    : ok("clock", "in sync with the service");
}

async function checkApiKey(rest: RestClient, { apiKey, env }: Connection): Promise<Finding> {
  try {
    await rest.call({ path: "/events", query: { limit: 1 } });
    const where = env === null ? "the default environment" : `the environment ${env}`;
    return ok("API key", apiKey === null ? `not needed; ${where} is readable` : `valid; ${where} is readable`);
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    const [said = "", ...advice] = error.lines;
    return problem("API key", said, advice.join(" ") || "See the message.");
  }
}

/** Sending an empty array checks the key and stores nothing. */
async function checkEventKey(base: string, { env }: Connection, given: string | null): Promise<Finding> {
  const key = given?.split(",")[0]?.trim();
  if (!key) {
    const isLocal = WITHOUT_KEY.has(new URL(base).hostname);
    return isLocal
      ? skipped("event key", "not set; not needed for a dev server")
      : skipped("event key", "not set; use --key or SERVICE_EVENT_KEY (or INLET_EVENT_KEY)");
  }
  const headers: Record<string, string> = { "content-type": "application/json", ...(env !== null && { "x-service-env": env }) };
  const answer = await probe(`${base}/e/${encodeURIComponent(key)}`, { method: "POST", headers, body: "[]" });
  const { code, error } = (typeof answer === "string" ? { error: answer } : (answer.body ?? {})) as { code?: string; error?: string };
  if (code === "events_missing") return ok("event key", "valid");
  const advice =
    code === "environment_missing" || code === "environment_not_found" || code === "environment_forbidden"
      ? 'The key and --env do not go together; "inlet env list" and "inlet keys list" show what there is.'
      : '"inlet keys create <name>" makes a new one.';
  return problem("event key", error ?? "the response did not come from Inlet", advice);
}

async function checkApps(rest: RestClient): Promise<Finding[]> {
  let apps: App[];
  try {
    apps = (await rest.list<App>({ path: "/apps" })).items;
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    return [skipped("apps", `could not be listed: ${error.lines[0]}`)];
  }
  if (apps.length === 0) return [skipped("apps", "none registered")];
  return Promise.all(apps.map(checkApp));
}

/** The service's own view counts, because this machine may be in another network. */
async function checkApp({ name, url, error, functions }: App): Promise<Finding> {
  const check = `app ${name}`;
  if (error) return problem(check, `the last sync of ${url} failed: ${error}`, `Fix the app, then run "inlet apps sync ${url}".`);
  const answer = await probe(url);
  if (typeof answer !== "string") return ok(check, `${url} answers; ${functions} function${functions === 1 ? "" : "s"}`);
  const advice = "Start the app. If the service is in another network, this can be expected.";
  return warning(check, `${url} cannot be reached from here: ${answer}`, advice);
}
