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
    sentence: "Where copies go: a dev server (an address without a path), or the URL of a local app.",
  },
  events: { type: "string", placeholder: "name", sentence: "Which events; a name that may end in *. All of them unless given." },
  webhooks: { type: "boolean", sentence: "Raw requests of every webhook of the environment, instead of events." },
  webhook: { type: "string", many: true, placeholder: "name", sentence: "Raw requests of this webhook, by name or id." },
  since: {
    type: "string",
    placeholder: "time",
    fault: instantFault("--since"),
    sentence: "Begin in the past, whatever was seen before: a time ago such as 15m, ISO 8601 or milliseconds.",
  },
  "to-key": {
    type: "string",
    placeholder: "key",
    fallback: "listen",
    secret: true,
    sentence: "Event key at the target; a dev server accepts any.",
  },
  "to-env": { type: "string", placeholder: "name", sentence: "Environment at the target; its default one unless given." },
  state: {
    type: "string",
    placeholder: "file",
    fallback: ".inlet/listen.json",
    sentence: "Keeps how far copying came, for the next time.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
