/** The flags of `inlet jobs …`, and of commands that start jobs. */

import { JOB_STATUSES } from "@inlet/protocol";
import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { PAGE_FLAGS } from "../command-line/list-flags.ts";

export const JOB_LIST_FLAGS = {
  status: { type: "string", choices: JOB_STATUSES, sentence: "Only jobs with this status." },
  scheduled: { type: "boolean", sentence: "Also list scheduled reconciliations." },
  ...PAGE_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const START_JOB_FLAGS = {
  rate: {
    type: "string",
    placeholder: "items per second",
    fault: (text: string) => (/^[1-9]\d{0,4}$/.test(text) ? null : `--rate must be a whole number from 1, not "${text}"`),
    sentence: "Maximum number of items per second; default: the server's --job-rate.",
  },
  "dry-run": { type: "boolean", sentence: "Only count what matches and show up to five of it. Nothing is done." },
  yes: { type: "boolean", sentence: "Do not ask for confirmation." },
} as const satisfies Flags;
