/** `inlet send`. */

import { EVENTS_PER_REQUEST_MAX } from "@inlet/protocol";
import { type CommandRow, command, type Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const SEND_FLAGS = {
  name: { type: "string", placeholder: "name", sentence: "Name of the one event to send." },
  data: { type: "string", placeholder: "json", sentence: "Its data, a JSON object; {} unless given." },
  id: { type: "string", placeholder: "id", sentence: "Its id, which guards against duplicates." },
  ts: { type: "string", placeholder: "time", sentence: "Its time, in milliseconds or ISO 8601; the time received unless given." },
  key: {
    type: "string",
    placeholder: "key",
    variable: "SERVICE_EVENT_KEY",
    secret: true,
    sentence: "Event key; a dev server accepts any, and needs none here.",
  },
  batch: {
    type: "string",
    placeholder: "count",
    fallback: "1000",
    fault: (text: string) =>
      /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= EVENTS_PER_REQUEST_MAX
        ? null
        : `--batch must be a whole number from 1 to ${EVENTS_PER_REQUEST_MAX}, not "${text}"`,
    sentence: "Most events in one request; a request is stored whole or not at all.",
  },
  url: CONNECTION_FLAGS.url,
  env: { ...CONNECTION_FLAGS.env, sentence: "Environment the key may send to; a key of all branches needs it." },
  json: CONNECTION_FLAGS.json,
} as const satisfies Flags;

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
