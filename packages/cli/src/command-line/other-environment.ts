/**
 * SERVICE_ENV as another name of INLET_ENV. Platforms set a variable of that name for purposes of their own, so it counts only if it names
 * an environment of the key; otherwise it is ignored with a warning.
 */

import type { CommandRow, Flags, Io, OptionsOf } from "./command-row.ts";

const TIMEOUT_MS = 10_000;

interface Connected {
  url: string;
  env: string | null;
  apiKey?: string | null;
  /** The event key, for commands that send events. */
  key?: string | null;
}

export async function withOtherEnvironment(row: CommandRow, options: OptionsOf<Flags>, io: Io): Promise<OptionsOf<Flags>> {
  const name = io.variables.SERVICE_ENV?.trim();
  if (!name || row.flags.env?.variable !== "INLET_ENV" || options.env !== null) return options;
  if (await isOfTheKey(options as unknown as Connected, name)) return { ...options, env: name };
  io.err.write(`warning: SERVICE_ENV is "${name}", which is no environment of this key; it is ignored. Use --env or INLET_ENV.\n`);
  return options;
}

/** What else is wrong is left to the command itself: its error is the better one. */
async function isOfTheKey({ url, apiKey, key }: Connected, name: string): Promise<boolean> {
  const base = url.replace(/\/+$/, "");
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const headers = { "x-service-env": name, ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) };
  // An empty list of events is refused after the key and the environment were accepted.
  const request =
    key === undefined
      ? fetch(`${base}/v1/events?limit=1`, { headers, signal })
      : fetch(`${base}/e/${encodeURIComponent(key?.split(",")[0]?.trim() || "dev")}`, { method: "POST", body: "[]", headers, signal });
  try {
    const { code } = (await (await request).json()) as { code?: string };
    return code !== "environment_not_found" && code !== "environment_forbidden";
  } catch {
    return true;
  }
}
