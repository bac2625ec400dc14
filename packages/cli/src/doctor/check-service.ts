/** What the service at --url says: whether it is there and can store, its clock, the keys, the environment, its apps. */

import type { App } from "../apps/apps-commands.ts";
import { CommandFault } from "../command-line/command-fault.ts";
import { asJson, type Connection, createRestClient, type RestClient, reasonOf } from "../rest/rest-client.ts";
import { checkCluster } from "./check-cluster.ts";
import { type Finding, ok, problem, skipped, warning } from "./finding.ts";

const LOOK_MS = 5_000;
/** The header Date counts in seconds, and an answer takes its time. */
const SKEW_WARNING_MS = 5_000;
const SKEW_PROBLEM_MS = 60_000;
const WITHOUT_KEY: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

export async function checkService(connection: Connection, key: string | null): Promise<Finding[]> {
  const rest = createRestClient(connection);
  const health = await look(`${rest.base}/health`);
  if (typeof health === "string") {
    const advice = 'Start it with "inlet start" or "inlet dev", or name another with --url or SERVICE_BASE_URL.';
    return [problem("service", `${rest.base} cannot be reached: ${health}`, advice)];
  }
  if (!isInlet(health)) {
    return [
      problem(
        "service",
        `${rest.base} answers, but is no Inlet`,
        "Name the service with --url or SERVICE_BASE_URL; mind the path a proxy adds.",
      ),
    ];
  }
  return [
    ...(await checkReady(rest.base)),
    checkClock(health.date),
    await checkApiKey(rest, connection),
    await checkEventKey(rest.base, connection, key),
    ...(await checkApps(rest)),
  ];
}

interface Looked {
  status: number;
  body: unknown;
  date: string | null;
}

/** What is there, or why nothing is. */
export async function look(url: string, init: RequestInit = {}): Promise<Looked | string> {
  try {
    const response = await fetch(url, { redirect: "manual", ...init, signal: AbortSignal.timeout(LOOK_MS) });
    return { status: response.status, body: asJson(await response.text()), date: response.headers.get("date") };
  } catch (error) {
    return (error as Error).name === "TimeoutError" ? `no answer within ${LOOK_MS / 1_000} s` : reasonOf(error);
  }
}

export function isInlet(looked: Looked): boolean {
  return (looked.body as { message?: string } | undefined)?.message === "OK" && looked.status === 200;
}

async function checkReady(base: string): Promise<Finding[]> {
  const ready = await look(`${base}/ready`);
  if (typeof ready !== "string" && ready.status === 200) {
    return [ok("service", `${base} serves and can store`), ...checkCluster(ready.body ?? {})];
  }
  const said = typeof ready === "string" ? ready : ((ready.body as { error?: string } | undefined)?.error ?? `status ${ready.status}`);
  const advice = "Its log says why; a full or read-only disk is the usual reason.";
  return [problem("service", `${base} serves, but is not ready: ${said}`, advice)];
}

export function checkClock(date: string | null, now: number = Date.now()): Finding {
  const skewMs = date === null ? Number.NaN : now - Date.parse(date);
  if (Number.isNaN(skewMs)) return skipped("clock", "the service's answers carry no Date");
  const text = `${Math.abs(Math.round(skewMs / 1_000))} s ${skewMs > 0 ? "ahead of" : "behind"} the service`;
  const advice = "Let both machines keep time by NTP: signatures and lists by time depend on it.";
  if (Math.abs(skewMs) >= SKEW_PROBLEM_MS) return problem("clock", `this machine is ${text}`, advice);
  return Math.abs(skewMs) >= SKEW_WARNING_MS ? warning("clock", `this machine is ${text}`, advice) : ok("clock", "agrees with the service");
}

async function checkApiKey(rest: RestClient, { apiKey, env }: Connection): Promise<Finding> {
  try {
    await rest.call({ path: "/events", query: { limit: 1 } });
    const where = env === null ? "the default environment" : `the environment ${env}`;
    return ok("API key", apiKey === null ? `none is needed here; ${where} can be read` : `valid; ${where} can be read`);
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    const [said = "", ...advice] = error.lines;
    return problem("API key", said, advice.join(" ") || "The message says what is wrong.");
  }
}

/** An empty list tells a good key from a bad one, and stores nothing. */
async function checkEventKey(base: string, { env }: Connection, given: string | null): Promise<Finding> {
  const key = given?.split(",")[0]?.trim();
  if (!key) {
    const isLocal = WITHOUT_KEY.has(new URL(base).hostname);
    return isLocal
      ? skipped("event key", "none was given; a dev server needs none")
      : skipped("event key", "none was given, with --key or SERVICE_EVENT_KEY");
  }
  const headers: Record<string, string> = { "content-type": "application/json", ...(env !== null && { "x-service-env": env }) };
  const answer = await look(`${base}/e/${encodeURIComponent(key)}`, { method: "POST", headers, body: "[]" });
  const { code, error } = (typeof answer === "string" ? { error: answer } : (answer.body ?? {})) as { code?: string; error?: string };
  if (code === "events_missing") return ok("event key", "valid");
  const advice =
    code === "environment_missing" || code === "environment_not_found" || code === "environment_forbidden"
      ? 'The key and --env do not go together; "inlet env list" and "inlet keys list" show what there is.'
      : '"inlet keys create <name>" makes a new one.';
  return problem("event key", error ?? "the answer was none of Inlet's", advice);
}

async function checkApps(rest: RestClient): Promise<Finding[]> {
  let apps: App[];
  try {
    apps = await rest.data<App[]>({ path: "/apps" });
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    return [skipped("apps", `they cannot be listed: ${error.lines[0]}`)];
  }
  if (apps.length === 0) return [skipped("apps", "none is registered")];
  return Promise.all(apps.map(checkApp));
}

/** The service's own word counts; this machine may well stand elsewhere in the network. */
async function checkApp({ name, url, error, functions }: App): Promise<Finding> {
  const check = `app ${name}`;
  if (error) return problem(check, `the last sync of ${url} failed: ${error}`, `Mend the app, then "inlet apps sync ${url}".`);
  const answer = await look(url);
  if (typeof answer !== "string") return ok(check, `${url} answers; ${functions} functions`);
  const advice = "If the service stands in another network, that may be as it should; else start the app.";
  return warning(check, `${url} cannot be reached from here: ${answer}`, advice);
}
