/** The flags of `inlet env …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

/** These are about environments, not within one. */
const { env: _, ...INSTALLATION_FLAGS } = CONNECTION_FLAGS;

export const PLAIN_FLAGS = INSTALLATION_FLAGS satisfies Flags;
export const CREATE_FLAGS = {
  kind: {
    type: "string",
    choices: ["branch", "custom"],
    fallback: "branch",
    sentence: "branch: for a preview, shares keys and webhooks with all branches. custom: has its own.",
  },
  "if-missing": { type: "boolean", sentence: "Succeed if the environment exists. Unarchives it if necessary." },
  ...INSTALLATION_FLAGS,
} as const satisfies Flags;
