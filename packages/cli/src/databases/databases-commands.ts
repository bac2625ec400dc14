/** `inlet databases …`: the databases that hold the environments of an installation. */

import { text as readText } from "node:stream/consumers";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient, LONG_TIMEOUT_MS } from "../rest/rest-client.ts";
import type { ADD_FLAGS, LIST_FLAGS } from "./databases-flags.ts";

interface Database {
  name: string;
  environments: string[];
  reachable: boolean;
  bytes: number | null;
}

const STDIN = "-";
const HEADINGS = ["NAME", "REACHABLE", "BYTES", "ENVIRONMENTS"];

export async function listDatabases({ options, io }: Call<typeof LIST_FLAGS>): Promise<CommandResult> {
  const { items, next } = await createRestClient({ ...options, env: null }).list<Database>({ path: "/databases" });
  const rows = items.map(({ name, reachable, bytes, environments }) => [
    name,
    reachable ? "yes" : "no",
    bytes === null ? "" : bytes.toLocaleString("en"),
    environments.join(", "),
  ]);
  return listResult({ headings: HEADINGS, rows, empty: "No databases." }, items, next, io);
}

export async function addDatabase({ options, names, io }: Call<typeof ADD_FLAGS>): Promise<CommandResult> {
  const [name = "", given = ""] = names;
  const url = given === STDIN ? (await readText(io.stdin)).trim() : given;
  const body = { name, url, ...(options.readUrl !== null && { readUrl: options.readUrl }) };
  // Answered once the database has all tables.
  const request = { method: "POST", path: "/databases", body, timeoutMs: LONG_TIMEOUT_MS };
  const added = await createRestClient({ ...options, env: null }).data<Database>(request);
  const text = `Added the database ${name}. Place an environment on it with "inlet env create <name> --kind custom --database ${name}".`;
  return { exitCode: EXIT.ok, text, json: added };
}
