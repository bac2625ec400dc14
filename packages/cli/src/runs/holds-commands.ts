/** `inlet runs holds|release`. */

import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { HOLDS_FLAGS } from "./runs-flags.ts";

interface HoldFields {
  function: { id: string; name: string };
  key: string | null;
  runId: string | null;
  heldAt: string;
  waiting: number;
}

export async function listHolds({ options, io }: Call<typeof HOLDS_FLAGS>): Promise<CommandResult> {
  const { function: functionId, cursor, limit } = options;
  const query = { function: functionId, cursor };
  const { items, next } = await createRestClient(options).list<HoldFields>({ path: "/holds", query }, Number(limit));
  const rows = items.map(({ heldAt, function: { id }, key, runId, waiting }) => [heldAt, id, key, runId, String(waiting)]);
  const headings = ["SINCE", "FUNCTION", "KEY", "FAILED RUN", "WAITING"];
  return listResult({ headings, rows, empty: "No keys are on hold." }, items, next, io);
}

export async function releaseRun({ options, names }: Call<typeof CONNECTION_FLAGS>): Promise<CommandResult> {
  const path = `/runs/${encodeURIComponent(names[0] ?? "")}/release`;
  const { value } = await createRestClient(options).call<{ data: { runId: string; key: string | null } }>({ method: "POST", path });
  return { exitCode: EXIT.ok, text: `Released the key ${value.data.key ?? `of the run ${value.data.runId}`}.`, json: value.data };
}
