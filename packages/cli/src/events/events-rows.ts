/** `inlet events …`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { LIST_FLAGS, TAIL_FLAGS } from "./events-flags.ts";

export const EVENTS_ROWS: readonly CommandRow[] = [
  command({
    words: ["events", "list"],
    sentence: "Lists events, newest first.",
    more: "Times are when the service received the events.",
    examples: [
      ["inlet events list --name 'shop/*' --from 1h", "matching events of the last hour"],
      ["inlet events list --q 4711 --limit 100 --json", "for a script, with payloads"],
      ["inlet events list --archived --name shop/paid --from 400d", "events that were archived with their partition"],
    ],
    flags: LIST_FLAGS,
    run: async (call) => (await import("./list-events.ts")).listEvents(call),
  }),
  command({
    words: ["events", "get"],
    operands: "<event id>",
    sentence: "Shows an event with its payload, exactly as it was sent.",
    namesMin: 1,
    namesMax: 1,
    examples: [["inlet events get 01JCQ7V8Z0ABCDEFGHJKMNPQRS", "by Event ID"]],
    flags: CONNECTION_FLAGS,
    run: async (call) => (await import("./get-event.ts")).getEvent(call),
  }),
  command({
    words: ["events", "tail"],
    sentence: "Prints events as they arrive, until Ctrl-C.",
    more: "After a disconnect it resumes where it stopped, so nothing is missed. With --json, each event is one line (NDJSON).",
    examples: [
      ["inlet events tail", "all new events"],
      ["inlet events tail --name 'shop/*' --since 10m --json", "also those of the last ten minutes, for a script"],
    ],
    flags: TAIL_FLAGS,
    run: async (call) => (await import("./tail-events.ts")).tailEvents(call),
  }),
];
