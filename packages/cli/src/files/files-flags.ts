/** The flags of `inlet plan`, `inlet apply` and `inlet export`. */

import { isEnvironmentPattern } from "@inlet/protocol";
import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

const { url, "api-key": apiKey } = CONNECTION_FLAGS;
const DIR = { type: "string", placeholder: "folder", fallback: "inlet", sentence: "Folder of the files." } as const;
const ENV = {
  type: "string",
  many: true,
  placeholder: "name",
  fault: (name: string) => (isEnvironmentPattern(name) ? null : `"${name}" is not a valid environment name`),
  sentence: "Only what is about this environment, or about those that begin alike (payments-*); default: everything.",
} as const;
const JSON_FLAG = { json: { type: "boolean", sentence: "Print one JSON document instead of text." } } as const;
const PRUNE = {
  type: "boolean",
  sentence: "Also delete objects that the files leave out, of the kinds and in the environments that they describe.",
} as const;

export const PLAN_FLAGS = { dir: DIR, env: ENV, prune: PRUNE, url, "api-key": apiKey, ...JSON_FLAG } as const satisfies Flags;
export const APPLY_FLAGS = {
  ...PLAN_FLAGS,
  "keys-to": {
    type: "string",
    placeholder: "file",
    sentence:
      "File for the text of new keys, which is shown only once; readable by its owner only. - prints each key at once, with --json to standard error.",
  },
  "skip-tests": { type: "boolean", sentence: "Skip the fixtures of webhooks." },
} as const satisfies Flags;
export const EXPORT_FLAGS = {
  dir: DIR,
  env: { ...ENV, sentence: `${ENV.sentence} A branch environment is written only if it is named.` },
  force: { type: "boolean", sentence: "Overwrite files that differ from the server." },
  "schema-only": { type: "boolean", sentence: "Write only the schema for editors, inlet.schema.json." },
  url,
  "api-key": apiKey,
  ...JSON_FLAG,
} as const satisfies Flags;
