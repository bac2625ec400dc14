/** The approval that a step waits for, or waited for: what is asked, its status, and its decision. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { approvalQuery } from "../api/approvals.ts";
import { CopyButton } from "../ui/copy.tsx";
import { ApprovalStatusBadge } from "./approval-status.tsx";
import { DecideButtons, DecideDialog, type Deciding } from "./decide-buttons.tsx";

export function StepApproval({ env, id }: { env: string; id: string }) {
  const { data: approval } = useQuery(approvalQuery(env, id));
  const [deciding, setDeciding] = useState<Deciding | null>(null);
  if (!approval) return null;
  return (
    <div>
      <p className="strong">{approval.prompt}</p>
      <ApprovalStatusBadge status={approval.status} /> {approval.by !== null && <span className="quiet">by {approval.by} </span>}
      <DecideButtons approval={approval} onDecide={setDeciding} />{" "}
      {approval.status === "open" && !approval.url.endsWith("…") && <CopyButton text={() => approval.url} label="Copy the link" />}
      {deciding && <DecideDialog env={env} {...deciding} onClose={() => setDeciding(null)} />}
    </div>
  );
}
