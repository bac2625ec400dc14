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
    sentence:
      "event: sends events to the environment. api: accesses the REST API and the CLI. signing: signs calls to functions of the environment.",
  },
  role: {
    type: "string",
    choices: ["owner", "admin", "operator", "viewer", "metrics", "read", "ingest-admin"],
    sentence:
      "Role of an API key; default admin. operator: reads everything, repairs runs and requests. viewer: read-only; read is an alias of it. metrics: reads /metrics only. ingest-admin: manages webhooks and event schemas, reads events and usage.",
  },
  "only-env": {
    type: "string",
    many: true,
    placeholder: "name",
    sentence: "Restrict an API key to this environment. branch: all branch environments.",
  },
  "allow-name": { type: "string", many: true, placeholder: "name", sentence: "Allow only these event names; may end in *." },
  "allow-ip": { type: "string", many: true, placeholder: "cidr", sentence: "Allow only these IP addresses." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const NEW_FLAGS = {
  kind: { type: "string", choices: KINDS, fallback: "event", sentence: "What the key is for." },
  json: CONNECTION_FLAGS.json,
} as const satisfies Flags;
