/** The flags of `inlet send`. */

import { EVENTS_PER_REQUEST_MAX } from "@inlet/protocol";
import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const SEND_FLAGS = {
  name: { type: "string", placeholder: "name", sentence: "Name of a single event to send." },
  data: { type: "string", placeholder: "json", sentence: "Data of the event, a JSON object; default {}." },
  id: { type: "string", placeholder: "id", sentence: "Id of the event, for deduplication." },
  ts: { type: "string", placeholder: "time", sentence: "Timestamp of the event, in milliseconds or ISO 8601; default: the time received." },
  key: {
    type: "string",
    placeholder: "key",
    variable: "INLET_EVENT_KEY",
    secret: true,
    sentence: "Event key; not needed for a dev server. SERVICE_EVENT_KEY sets it, too.",
  },
  batch: {
    type: "string",
    placeholder: "count",
    fallback: "1000",
    fault: (text: string) =>
      /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= EVENTS_PER_REQUEST_MAX
        ? null
        : `--batch must be a whole number from 1 to ${EVENTS_PER_REQUEST_MAX}, not "${text}"`,
    sentence: "Maximum number of events per request. A request is stored as a whole or not at all.",
  },
  url: CONNECTION_FLAGS.url,
  env: { ...CONNECTION_FLAGS.env, sentence: "Environment to send to; required for a branch key." },
  json: CONNECTION_FLAGS.json,
} as const satisfies Flags;
