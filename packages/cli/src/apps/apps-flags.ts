/** The flags of `inlet apps check`, `inlet functions resume` and `inlet functions limit`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const RESUME_FLAGS = {
  held: { type: "string", choices: ["keep", "cancel"], fallback: "keep", sentence: "Whether runs that waited continue or are cancelled." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const LIMIT_FLAGS = {
  concurrency: { type: "string", sentence: "How many at a time. `none` takes the limit back: the app's own applies." },
  throttle: { type: "string", sentence: "How many runs start in a period, such as `10/1m`; others wait. `none` takes it back." },
  "rate-limit": {
    type: "string",
    sentence: "How many runs start in a period, such as `100/1h`; others are dropped. `none` takes it back.",
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
