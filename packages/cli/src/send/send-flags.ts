/** The flags of `inlet send`. */

import { EVENTS_PER_REQUEST_MAX } from "@inlet/protocol";
import type { Flags } from "../command-line/command-row.ts";
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
