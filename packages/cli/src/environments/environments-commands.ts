/** `inlet env …`: environments of an installation. */

import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient, type RestClient } from "../rest/rest-client.ts";
import type { CREATE_FLAGS, PLAIN_FLAGS } from "./environments-flags.ts";

interface Environment {
  name: string;
  kind: string;
  createdAt: string;
  archivedAt: string | null;
  database: string;
}

/** A custom environment comes with keys, which are shown only when it is created. */
interface NewEnvironment extends Environment {
  keys?: { kind: string; key: string }[];
}

export async function listEnvironments({ options, io }: Call<typeof PLAIN_FLAGS>): Promise<CommandResult> {
  const { items, next } = await clientOf(options).list<Environment>({ path: "/environments" });
  // With one database, its name says nothing.
  const isPlaced = items.some(({ database }) => database !== items[0]?.database);
  const rows = items.map(({ name, kind, createdAt, archivedAt, database }) => [
    ...[name, kind, createdAt, archivedAt],
    ...(isPlaced ? [database] : []),
  ]);
  const headings = ["NAME", "KIND", "CREATED", "ARCHIVED", ...(isPlaced ? ["DATABASE"] : [])];
  return listResult({ headings, rows, empty: "No environments." }, items, next, io);
}

export async function createEnvironment({ options, names }: Call<typeof CREATE_FLAGS>): Promise<CommandResult> {
  const [name = ""] = names;
  const rest = clientOf(options);
  try {
    const { kind, database } = options;
    const body = { name, kind, ...(database !== null && { database }) };
    const made = await rest.data<NewEnvironment>({ method: "POST", path: "/environments", body });
    const keys = (made.keys ?? []).map(({ kind, key }) => `  ${`${kind} key`.padEnd(13)}${key}`);
    const shown = keys.length > 0 ? [" These keys are shown only now:", ...keys] : [""];
    return resultOf(`Created the ${made.kind} environment ${made.name}.${shown.join("\n")}`, made);
  } catch (error) {
    if (!(error instanceof CommandFault) || error.code !== "environment_exists" || !options.ifMissing) throw error;
    return adopt(rest, name);
  }
}

/** An existing environment is unarchived, so that it can be used. */
async function adopt(rest: RestClient, name: string): Promise<CommandResult> {
  const { items } = await rest.list<Environment>({ path: "/environments" });
  const found = items.find((environment) => environment.name === name);
  if (found?.archivedAt === null) return resultOf(`The ${found.kind} environment ${name} exists.`, found);
  const back = await rest.data<Environment>({ method: "POST", path: `${pathOf(name)}/unarchive` });
  return resultOf(`The ${back.kind} environment ${name} was archived and is active again.`, back);
}

export async function archiveEnvironment(call: Call<typeof PLAIN_FLAGS>, action: "archive" | "unarchive"): Promise<CommandResult> {
  const [name = ""] = call.names;
  const changed = await clientOf(call.options).data<Environment>({ method: "POST", path: `${pathOf(name)}/${action}` });
  return resultOf(
    action === "archive" ? `Archived ${name}. To undo this, run "inlet env unarchive ${name}".` : `${name} is active again.`,
    changed,
  );
}

function clientOf(options: { url: string; apiKey: string | null }): RestClient {
  return createRestClient({ ...options, env: null });
}

function pathOf(name: string): string {
  return `/environments/${encodeURIComponent(name)}`;
}

function resultOf(text: string, environment: Environment): CommandResult {
  return { exitCode: EXIT.ok, text, json: environment };
}
