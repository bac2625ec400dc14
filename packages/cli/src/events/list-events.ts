/** `inlet events list`. */

import { type CommandResult, JsonText } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { instant } from "../command-line/list-flags.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient, nextCursor, type Page } from "../rest/rest-client.ts";
import { type EventFields, itemTexts, memberText, onOneLine } from "./event-text.ts";
import type { LIST_FLAGS } from "./events-flags.ts";

const PAGE_MAX = 100;

export async function listEvents({ options, io }: Call<typeof LIST_FLAGS>): Promise<CommandResult> {
  const { name, id, source, q, from, to } = options;
  const rest = createRestClient(options);
  const limit = Number(options.limit);
  const texts: string[] = [];
  let cursor = options.cursor;
  do {
    const query = {
      name,
      id,
      source,
      internal: options.noInternal ? "false" : null,
      q,
      archived: options.archived ? "true" : null,
      from: from && instant(from),
      to: to && instant(to),
      cursor,
      limit: Math.min(PAGE_MAX, limit - texts.length),
    };
    const { text, value } = await rest.call<Page<unknown>>({ path: "/events", query });
    cursor = nextCursor(rest.base, value);
    texts.push(...itemTexts(text));
  } while (cursor !== null && texts.length < limit);
  const rows = texts.map((text) => {
    const event = JSON.parse(text) as EventFields;
    return [event.receivedAt, event.id, event.name, event.source.name, onOneLine(memberText(text, "data"))];
  });
  const table = { headings: ["RECEIVED", "ID", "NAME", "SOURCE", "DATA"], rows, empty: "No events." };
  return listResult(table, new JsonText(`[${texts.join(",")}]`), cursor, io);
}
