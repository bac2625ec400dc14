/** `inlet events get`. */

import { type CommandResult, EXIT, JsonText } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import type { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { fieldsText, statusText, visible } from "../command-line/write-table.ts";
import { createRestClient } from "../rest/rest-client.ts";
import { type EventFields, memberText } from "./event-text.ts";

export async function getEvent({ options, names }: Call<typeof CONNECTION_FLAGS>): Promise<CommandResult> {
  const { text, value } = await createRestClient(options).call<{ data: EventFields }>({
    path: `/events/${encodeURIComponent(names[0] as string)}`,
  });
  const event = value.data;
  const own = memberText(text, "data");
  const runs = event.runs?.map((run) => `${run.id}  ${statusText(run.status)}  ${run.function.id}`);
  const shown = fieldsText([
    ["id", event.id],
    ["name", visible(event.name)],
    ["received", event.receivedAt],
    ["ts", new Date(event.ts).toISOString()],
    ["environment", event.environment],
    ["source", `${event.source.kind} ${event.source.name} (${event.source.id})`],
    ["dedup id", event.dedupId && visible(event.dedupId)],
    ["duplicates", String(event.duplicates)],
    ["runs", runs && runs.length > 0 ? runs.join("\n") : null],
    ["data", memberText(own, "data")],
  ]);
  return { exitCode: EXIT.ok, text: shown, json: new JsonText(own) };
}
