/** `inlet approvals …`. */

import { type CommandRow, command } from "../command-line/command-row.ts";
import { APPROVAL_LIST_FLAGS, DECIDE_FLAGS } from "./approvals-flags.ts";

const ID = "01JCQ7V8Z0ABCDEFGHJKMNPQRS";

export const APPROVALS_ROWS: readonly CommandRow[] = [
  command({
    words: ["approvals", "list"],
    sentence: "Lists approvals, newest first.",
    examples: [["inlet approvals list --status open", "what waits for a decision"]],
    flags: APPROVAL_LIST_FLAGS,
    run: async (call) => (await import("./approvals-commands.ts")).listApprovals(call),
  }),
  command({
    words: ["approvals", "decide"],
    operands: "<approval id> <approved|rejected>",
    namesMin: 2,
    namesMax: 2,
    sentence: "Decides an approval, once. The run that waits for it continues.",
    examples: [[`inlet approvals decide ${ID} approved --comment "Looks good"`, 'by the id that "inlet approvals list" shows']],
    flags: DECIDE_FLAGS,
    run: async (call) => (await import("./approvals-commands.ts")).decideApproval(call),
  }),
];
