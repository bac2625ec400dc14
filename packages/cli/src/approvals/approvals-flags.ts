/** The flags of `inlet approvals …`. */

import type { Flags } from "../command-line/command-row.ts";
import { CONNECTION_FLAGS } from "../command-line/connection-flags.ts";
import { PAGE_FLAGS } from "../command-line/list-flags.ts";

const STATUSES = ["open", "approved", "rejected", "expired", "cancelled"] as const;

export const APPROVAL_LIST_FLAGS = {
  status: { type: "string", choices: STATUSES, sentence: "Only approvals with this status." },
  ...PAGE_FLAGS,
  ...CONNECTION_FLAGS,
} as const satisfies Flags;

export const DECIDE_FLAGS = {
  comment: { type: "string", placeholder: "text", sentence: "A comment that the function receives." },
  ...CONNECTION_FLAGS,
} as const satisfies Flags;
