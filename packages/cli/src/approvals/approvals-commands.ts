/** `inlet approvals list|decide`. */

import { CommandFault } from "../command-line/command-fault.ts";
import { type CommandResult, EXIT } from "../command-line/command-result.ts";
import type { Call } from "../command-line/command-row.ts";
import { listResult } from "../rest/list-result.ts";
import { createRestClient } from "../rest/rest-client.ts";
import type { APPROVAL_LIST_FLAGS, DECIDE_FLAGS } from "./approvals-flags.ts";

interface Approval {
  id: string;
  status: string;
  prompt: string;
  function: { id: string } | null;
  signal: string | null;
  expiresAt: string;
  by: string | null;
}

const PROMPT_UNITS_SHOWN = 60;

export async function listApprovals({ options, io }: Call<typeof APPROVAL_LIST_FLAGS>): Promise<CommandResult> {
  const { status, cursor, limit } = options;
  const asked = { path: "/approvals", query: { status, cursor } };
  const { items, next } = await createRestClient(options).list<Approval>(asked, Number(limit));
  const rows = items.map((one) => [one.id, one.status, one.expiresAt, one.function?.id ?? one.signal, one.by, shortened(one.prompt)]);
  const headings = ["ID", "STATUS", "OPEN UNTIL", "ASKED BY", "DECIDED BY", "PROMPT"];
  return listResult({ headings, rows, empty: "No approvals." }, items, next, io);
}

export async function decideApproval({ options, names }: Call<typeof DECIDE_FLAGS>): Promise<CommandResult> {
  const [id = "", decision = ""] = names;
  if (decision !== "approved" && decision !== "rejected")
    throw new CommandFault(`The decision is approved or rejected, not "${decision}".`, "usage", EXIT.usage);
  const body = { decision, ...(options.comment !== null && { comment: options.comment }) };
  const request = { method: "POST", path: `/approvals/${encodeURIComponent(id)}`, body } as const;
  const decided = await createRestClient(options).data<Approval>(request);
  return { exitCode: EXIT.ok, text: `${decided.id} is ${decided.status}.`, json: decided };
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > PROMPT_UNITS_SHOWN ? `${line.slice(0, PROMPT_UNITS_SHOWN - 1)}…` : line;
}
