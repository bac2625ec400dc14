/** The flags of `inlet functions resume`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const RESUME_FLAGS = {
  held: { type: "string", choices: ["keep", "cancel"], fallback: "keep", sentence: "What becomes of runs that waited." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
