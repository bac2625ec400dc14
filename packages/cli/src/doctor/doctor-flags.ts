/** The flags of `inlet doctor`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";

export const DOCTOR_FLAGS = {
  "data-dir": {
    type: "string",
    placeholder: "folder",
    variable: "SERVICE_DATA_DIR",
    fallback: ".inlet",
    sentence: "The data folder to look at.",
  },
  port: {
    type: "string",
    placeholder: "number",
    variable: "SERVICE_PORT",
    fallback: "8288",
    fault: (text: string) =>
      /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? null : `--port must be a number from 0 to 65535, not "${text}"`,
    sentence: "The port a service on this machine would take.",
  },
  key: {
    type: "string",
    placeholder: "key",
    variable: "SERVICE_EVENT_KEY",
    secret: true,
    sentence: "Event key to check; nothing is sent with it.",
  },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
