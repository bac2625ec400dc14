/** The flags of `inlet functions resume`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const RESUME_FLAGS = {
  held: { type: "string", choices: ["keep", "cancel"], fallback: "keep", sentence: "Whether runs that waited continue or are cancelled." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
