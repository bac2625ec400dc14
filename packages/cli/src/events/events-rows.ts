/** `inlet events …`. */

import { type CommandRow, command, type Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { instantFault, PAGE_FLAGS, TIME_FLAGS } from "../command-line/list-flags.ts";

const NAME = { type: "string", placeholder: "name", sentence: "Event name; may end in *." } as const;

export const LIST_FLAGS = {
  name: NAME,
  ...TIME_FLAGS,
  id: { type: "string", placeholder: "id", sentence: "The id the sender gave, which guards against duplicates." },
  source: { type: "string", placeholder: "source", sentence: "A kind of source (key, webhook, function, internal), or the id of one." },
  q: { type: "string", placeholder: "text", sentence: "A piece of the payload's text, in any case." },
  ...PAGE_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const GET_FLAGS = CONNECTION_FLAGS;

export const TAIL_FLAGS = {
  name: NAME,
  since: {
    type: "string",
    placeholder: "time",
    fault: instantFault("--since"),
    sentence: "Begin in the past: a time ago such as 15m, ISO 8601 or milliseconds.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const EVENTS_ROWS: readonly CommandRow[] = [
  command({
    words: ["events", "list"],
    sentence: "Lists events, newest first.",
    more: "Times are those at which the service received the events.",
    examples: [
      ["inlet events list --name 'shop/*' --from 1h", "those of the shop in the last hour"],
      ["inlet events list --q 4711 --limit 100 --json", "for a script, with payloads"],
    ],
    flags: LIST_FLAGS,
    run: async (call) => (await import("./list-events.ts")).listEvents(call),
  }),
  command({
    words: ["events", "get"],
    operands: "<event id>",
    sentence: "Shows one event with its payload, as it was sent.",
    namesMin: 1,
    namesMax: 1,
    examples: [["inlet events get 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "by the Event ID the service gave it"]],
    flags: GET_FLAGS,
    run: async (call) => (await import("./get-event.ts")).getEvent(call),
  }),
  command({
    words: ["events", "tail"],
    sentence: "Shows events as they come in, until Ctrl-C.",
    more: "After a disconnect it goes on where it was, so nothing is missed. With --json each event is one line (NDJSON).",
    examples: [
      ["inlet events tail", "everything, from now on"],
      ["inlet events tail --name 'shop/*' --since 10m --json", "also the last ten minutes, for a script"],
    ],
    flags: TAIL_FLAGS,
    run: async (call) => (await import("./tail-events.ts")).tailEvents(call),
  }),
];
