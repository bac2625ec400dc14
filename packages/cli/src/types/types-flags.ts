/** The flags of `inlet types …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { SDKS } from "./types-file.ts";

export const TYPES_FLAGS = {
  sdk: { type: "string", choices: SDKS, fallback: "inlet", sentence: "The SDK that the types are for." },
  out: { type: "string", placeholder: "file", fallback: "inlet-events.ts", sentence: 'The file. "-": standard output.' },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const PUSH_FLAGS = {
  mode: {
    type: "string",
    choices: ["observe", "warn", "refuse"],
    sentence: "What happens to events that do not match. Default: the mode does not change.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
