/** The flags of `inlet migrate-store`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const MIGRATE_STORE_FLAGS = {
  from: {
    type: "string",
    placeholder: "folder",
    variable: "INLET_DATA_DIR",
    fallback: ".inlet",
    sentence: "Data folder of the embedded store.",
  },
  to: {
    type: "string",
    placeholder: "url",
    variable: "INLET_DATABASE_URL",
    secret: true,
    fault: (text: string) =>
      /^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "")
        ? null
        : "--to must be a URL such as postgres://user:password@host:5432/name",
    sentence: "PostgreSQL database, which must be empty.",
  },
  json: CONNECTION_FLAGS.json,
} as const satisfies Flags;
