/** The flags of `inlet apps check`, `inlet functions resume` and `inlet functions limit`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const RESUME_FLAGS = {
  held: { type: "string", choices: ["keep", "cancel"], fallback: "keep", sentence: "Whether runs that waited continue or are cancelled." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const LIMIT_FLAGS = {
  concurrency: {
    type: "string",
    placeholder: "number",
    sentence:
      "Maximum number of concurrent steps, or of concurrent runs if the function limits its runs. `none` removes it: the app's own limit applies.",
  },
  throttle: {
    type: "string",
    placeholder: "runs/period",
    sentence: "How many runs start in a period, such as `10/1m`; others wait. `none` removes it.",
  },
  "rate-limit": {
    type: "string",
    placeholder: "runs/period",
    sentence: "How many runs start in a period, such as `100/1h`; others are dropped. `none` removes it.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const CHECK_FLAGS = {
  app: { type: "string", placeholder: "name", sentence: "The app; default: the one that the build names." },
  "signing-key": {
    type: "string",
    placeholder: "key",
    variable: "INLET_SIGNING_KEY",
    secret: true,
    sentence: "Signing key of the environment; not needed for a dev server.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
