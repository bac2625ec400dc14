/** `inlet send`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { SEND_FLAGS } from "./send-flags.ts";

export const SEND: CommandRow = command({
  words: ["send"],
  operands: "[file …]",
  sentence: "Sends events: one from flags, or many from files or standard input.",
  more: `A file contains one event, an array of events, or one event per line (NDJSON). "-" is standard input, which is also read if neither a
name nor a file is given. Numbers are sent exactly as written. Events are validated and sent in order, in batches of up to --batch events and
512 KiB. After 503, 429 or a connection error, a request is retried with the same Event IDs, so nothing is stored twice. If an event is invalid
or a request is refused, sending stops, and the command reports what was accepted.`,
  namesMax: Number.POSITIVE_INFINITY,
  examples: [
    [`inlet send --name shop/order.created --data '{"orderId":4711}'`, "one event"],
    ["inlet send events.ndjson", "a file, one event per line"],
    ["inlet send orders.json --url https://inlet.example.com --env feature/cart", "to a branch, with SERVICE_EVENT_KEY"],
    ["inlet send - --json < events.ndjson", "from standard input, for a script"],
  ],
  flags: SEND_FLAGS,
  run: async (call) => (await import("./send-events.ts")).sendEvents(call),
});
