/** The flags of `inlet keys …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

const KINDS = ["event", "api", "signing"] as const;

export const LIST_FLAGS = {
  kind: { type: "string", choices: KINDS, sentence: "Only keys of this kind." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const CREATE_FLAGS = {
  kind: {
    type: "string",
    choices: KINDS,
    fallback: "event",
    sentence: "event: sends events to the environment; api: opens REST and this command; signing: signs calls to functions.",
  },
  role: {
    type: "string",
    choices: ["admin", "read", "ingest-admin"],
    sentence: "Of an API key: admin unless given; read may only read, ingest-admin keeps webhooks.",
  },
  "only-env": {
    type: "string",
    many: true,
    placeholder: "name",
    sentence: "Limit an API key to this environment; branch is all branches.",
  },
  "allow-name": { type: "string", many: true, placeholder: "name", sentence: "Let only these event names through; may end in *." },
  "allow-ip": { type: "string", many: true, placeholder: "cidr", sentence: "Let only these addresses through." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
