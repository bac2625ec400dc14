/** The flags of `inlet listen`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS, urlFault } from "../command-line/connection-flags.ts";
import { instantFault } from "../command-line/list-flags.ts";

export const LISTEN_FLAGS = {
  to: {
    type: "string",
    placeholder: "url",
    fallback: "http://localhost:8288",
    fault: urlFault,
    sentence: "Target of the copies: a dev server (a URL without a path) or the URL of a local app.",
  },
  events: { type: "string", placeholder: "name", sentence: "Event name, may end in *; default: all events." },
  webhooks: { type: "boolean", sentence: "Copy raw requests of all webhooks instead of events." },
  webhook: { type: "string", many: true, placeholder: "name", sentence: "Copy raw requests of this webhook, by name or id." },
  since: {
    type: "string",
    placeholder: "time",
    fault: instantFault("--since"),
    sentence: "Start in the past, ignoring the saved cursor: a duration such as 15m, ISO 8601 or milliseconds.",
  },
  "to-key": {
    type: "string",
    placeholder: "key",
    fallback: "listen",
    secret: true,
    sentence: "Event key at the target; a dev server accepts any.",
  },
  "to-env": { type: "string", placeholder: "name", sentence: "Environment at the target; default: the target's default environment." },
  state: {
    type: "string",
    placeholder: "file",
    fallback: ".inlet/listen.json",
    sentence: "File that stores the cursor between runs.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
