/** `inlet send`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { SEND_FLAGS } from "./send-flags.ts";

export const SEND: CommandRow = command({
  words: ["send"],
  operands: "[file …]",
  sentence: "Sends events: one from flags, or any number from files or standard input.",
  more: `A file holds one event, an array of events, or one event per line (NDJSON); "-" is standard input, which is also read when
neither a name nor a file is given. Numbers are sent as they are written. Events go out in order, in requests of up to --batch events and
512 KiB, each checked before it is sent. A request that meets 503, 429 or a broken connection is sent again with the same Event IDs, so
nothing is stored twice. When an event is not valid or a request is refused, sending stops, and what was accepted until then is told.`,
  namesMax: Number.POSITIVE_INFINITY,
  examples: [
    [`inlet send --name shop/order.created --data '{"orderId":4711}'`, "one event"],
    ["inlet send events.ndjson", "a file, one event per line"],
    ["inlet send orders.json --url https://inlet.example.com --env feature/cart", "to a branch, with SERVICE_EVENT_KEY"],
    ["inlet send - --json < events.ndjson", "from another program, for a script"],
  ],
  flags: SEND_FLAGS,
  run: async (call) => (await import("./send-events.ts")).sendEvents(call),
});
