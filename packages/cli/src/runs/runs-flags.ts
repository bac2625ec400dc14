/** The flags of `inlet runs …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { PAGE_FLAGS, TIME_FLAGS } from "../command-line/list-flags.ts";

const STATUSES = ["queued", "running", "sleeping", "waiting", "completed", "failed", "cancelled"] as const;

export const LIST_FLAGS = {
  status: { type: "string", choices: STATUSES, sentence: "Only runs with this status." },
  function: { type: "string", placeholder: "function id", sentence: "Only runs of this function." },
  ...TIME_FLAGS,
  ...PAGE_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const HOLDS_FLAGS = {
  function: { type: "string", placeholder: "function id", sentence: "Only keys of this function." },
  ...PAGE_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const WATCH_FLAGS = {
  function: { type: "string", placeholder: "function id", sentence: "Without a run: only runs of this function." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
