/** `inlet runs holds|release`. */

import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { HOLDS_FLAGS } from "./runs-flags.ts";

interface HoldFields {
  id: string;
  function: { id: string; name: string };
  key: string | null;
  runId: string | null;
  heldAt: string;
  waiting: number;
}

const HOLD_ID = /^\d{1,15}$/;

export async function listHolds({ options, io }: Call<typeof HOLDS_FLAGS>): Promise<CommandResult> {
  const { function: functionId, cursor, limit } = options;
  const query = { function: functionId, cursor };
  const { items, next } = await createRestClient(options).list<HoldFields>({ path: "/holds", query }, Number(limit));
  const rows = items.map(({ id, heldAt, function: fn, key, runId, waiting }) => [id, heldAt, fn.id, key, runId, String(waiting)]);
  const headings = ["ID", "SINCE", "FUNCTION", "KEY", "FAILED RUN", "WAITING"];
  return listResult({ headings, rows, empty: "No keys are on hold." }, items, next, io);
}

export async function releaseRun({ options, names }: Call<typeof CONNECTION_FLAGS>): Promise<CommandResult> {
  const [name = ""] = names;
  // Ids of holds are numbers, those of runs are ULIDs.
  const path = HOLD_ID.test(name) ? `/holds/${name}/release` : `/runs/${encodeURIComponent(name)}/release`;
  const { value } = await createRestClient(options).call<{ data: { runId: string | null; key: string | null } }>({ method: "POST", path });
  const { key, runId } = value.data;
  return { exitCode: EXIT.ok, text: `Released the key ${key ?? (runId === null ? name : `of the run ${runId}`)}.`, json: value.data };
}
