/** The flags of `inlet events …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { instantFault, PAGE_FLAGS, TIME_FLAGS } from "../command-line/list-flags.ts";

const NAME = { type: "string", placeholder: "name", sentence: "Event name; may end in *." } as const;

export const LIST_FLAGS = {
  name: NAME,
  ...TIME_FLAGS,
  id: { type: "string", placeholder: "id", sentence: "The sender's id of the event, used for deduplication." },
  source: { type: "string", placeholder: "source", sentence: "Source kind (key, webhook, function, internal) or source id." },
  "no-internal": { type: "boolean", sentence: "Leave out the events of the service itself." },
  q: { type: "string", placeholder: "text", sentence: "Text in the payload; ignores case." },
  archived: { type: "boolean", sentence: "Events of the archive, by --name, --from and --to only." },
  ...PAGE_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const TAIL_FLAGS = {
  name: NAME,
  since: {
    type: "string",
    placeholder: "time",
    fault: instantFault("--since"),
    sentence: "Start in the past: a duration such as 15m, ISO 8601 or milliseconds.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
