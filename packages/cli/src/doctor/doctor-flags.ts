/** The flags of `inlet doctor`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const DOCTOR_FLAGS = {
  app: {
    type: "string",
    placeholder: "url",
    fault: (text: string) =>
      /^https?:\/\//.test(text) && URL.canParse(text)
        ? null
        : `--app must be a URL such as http://localhost:3000/api/inngest, not "${text}"`,
    sentence: "Checks an app instead: reports what would behave differently on Inlet.",
  },
  "signing-key": {
    type: "string",
    placeholder: "key",
    variable: "INLET_SIGNING_KEY",
    secret: true,
    sentence: "Signing key of the app, for --app; not needed for an app in dev mode.",
  },
  "data-dir": {
    type: "string",
    placeholder: "folder",
    variable: "INLET_DATA_DIR",
    fallback: ".inlet",
    sentence: "Data folder to check.",
  },
  data: {
    type: "boolean",
    sentence: "Verify the whole database as well: every page, every index, every reference. A service need not run.",
  },
  port: {
    type: "string",
    placeholder: "number",
    variable: "INLET_PORT",
    fallback: "8288",
    fault: (text: string) =>
      /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? null : `--port must be a number from 0 to 65535, not "${text}"`,
    sentence: "Port of a service on this machine.",
  },
  key: {
    type: "string",
    placeholder: "key",
    variable: "INLET_EVENT_KEY",
    secret: true,
    sentence: "Event key to check; sends nothing. SERVICE_EVENT_KEY sets it, too.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
