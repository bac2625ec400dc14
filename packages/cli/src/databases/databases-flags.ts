/** The flags of `inlet databases …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

/** Databases belong to the installation, not to an environment. */
const { env: _, ...INSTALLATION_FLAGS } = CONNECTION_FLAGS;

export const LIST_FLAGS = INSTALLATION_FLAGS satisfies Flags;
export const ADD_FLAGS = {
  "read-url": {
    type: "string",
    placeholder: "url",
    secret: true,
    sentence: "URL of a replica of the database, for lists, searches and figures.",
  },
  ...INSTALLATION_FLAGS,
} as const satisfies Flags;
