/** The flags of `inlet events …`. */

import type { Flags } from "../command-line/command-row.ts";
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
