/** `inlet apps …` and `inlet functions …`. */

import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { RESUME_FLAGS } from "./apps-flags.ts";

export interface App {
  id: string;
  name: string;
  url: string;
  sdk: string;
  framework: string | null;
  functions: number;
  syncedAt: string | null;
  error: string | null;
  /** The key it registered with; an environment of null: a key of every environment. */
  signingKey: { id: string; name: string; environment: string | null } | null;
}

interface AppFunction {
  id: string;
  name: string;
  app: string;
  url: string;
  triggers: { event?: string; if?: string; cron?: string }[];
  config: { retries?: number | null };
  pausedAt: string | null;
  held: number;
}

type AppCall = Call<typeof CONNECTION_FLAGS>;

export async function listApps({ options, io }: AppCall): Promise<CommandResult> {
  const { items: apps } = await createRestClient(options).list<App>({ path: "/apps" });
  const rows = apps.map(({ id, name, functions, sdk, syncedAt, url, error }) => [
    id,
    name,
    String(functions),
    sdk,
    syncedAt,
    error ? `${url}: ${error}` : url,
  ]);
  return listResult({ headings: ["ID", "NAME", "FUNCTIONS", "SDK", "SYNCED", "URL"], rows, empty: "No apps." }, apps, null, io);
}

export async function syncApp({ options, names }: AppCall): Promise<CommandResult> {
  const app = await createRestClient(options).data<App>({ method: "POST", path: "/apps", body: { url: names[0] } });
  const count = `${app.functions} function${app.functions === 1 ? "" : "s"}`;
  return { exitCode: EXIT.ok, text: `Synced ${app.name}: ${count} at ${app.url}.`, json: app };
}

export async function removeApp({ options, names }: AppCall): Promise<CommandResult> {
  const path = `/apps/${encodeURIComponent(names[0] ?? "")}`;
  const removed = await createRestClient(options).data<{ id: string }>({ method: "DELETE", path });
  return { exitCode: EXIT.ok, text: `Removed ${names[0]}. Sync the app again to restore it.`, json: removed };
}

export async function listFunctions({ options, io }: AppCall): Promise<CommandResult> {
  const { items: functions } = await createRestClient(options).list<AppFunction>({ path: "/functions" });
  const rows = functions.map(({ id, name, app, triggers, config, ...state }) => [
    id,
    name,
    app,
    String(config.retries ?? 4),
    stateText(state),
    triggers.map(triggerText).join(", "),
  ]);
  return listResult({ headings: ["ID", "NAME", "APP", "RETRIES", "STATE", "TRIGGERS"], rows, empty: "No functions." }, functions, null, io);
}

function stateText({ pausedAt, held }: Pick<AppFunction, "pausedAt" | "held">): string {
  return pausedAt === null ? "active" : `paused, ${held} waiting`;
}

function triggerText({ event, if: condition, cron }: AppFunction["triggers"][number]): string {
  if (cron !== undefined) return `cron ${cron}`;
  return condition === undefined ? (event ?? "") : `${event} if ${condition}`;
}

interface PausedFunction {
  id: string;
  pausedAt: string | null;
  held: number;
}

export async function pauseFunction({ options, names }: AppCall): Promise<CommandResult> {
  const path = `/functions/${encodeURIComponent(names[0] ?? "")}/pause`;
  const shown = await createRestClient(options).data<PausedFunction>({ method: "POST", path });
  return { exitCode: EXIT.ok, text: `Paused ${shown.id}. Runs waiting: ${shown.held}.`, json: shown };
}

export async function resumeFunction({ options, names }: Call<typeof RESUME_FLAGS>): Promise<CommandResult> {
  const path = `/functions/${encodeURIComponent(names[0] ?? "")}/resume`;
  const shown = await createRestClient(options).data<PausedFunction>({ method: "POST", path, body: { held: options.held } });
  return { exitCode: EXIT.ok, text: `Resumed ${shown.id}.`, json: shown };
}
