/** Decides an approval, for those who may. A dialog shows what is asked and takes a comment: it is the second click. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Approval, type Decision, decideApproval } from "../api/approvals.ts";
import { useMayRepair } from "../api/session.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { toast } from "../ui/toasts.tsx";

const LABELS: Readonly<Record<Decision, string>> = { approved: "Approve", rejected: "Reject" };
const COMMENT_UNITS_MAX = 2_000;

export function DecideButtons({ env, approval }: { env: string; approval: Approval }) {
  const mayRepair = useMayRepair();
  const [deciding, setDeciding] = useState<Decision | null>(null);
  if (!mayRepair || approval.status !== "open") return null;
  const about = <span className="visually-hidden"> {approval.prompt}</span>;
  return (
    <div className="row row-actions">
      <button type="button" className="button small primary" onClick={() => setDeciding("approved")}>
        Approve{about}
      </button>
      <button type="button" className="button small danger" onClick={() => setDeciding("rejected")}>
        Reject{about}
      </button>
      {deciding && <DecideDialog env={env} approval={approval} decision={deciding} onClose={() => setDeciding(null)} />}
    </div>
  );
}

interface DecideDialogProps {
  env: string;
  approval: Approval;
  decision: Decision;
  onClose: () => void;
}

function DecideDialog({ env, approval, decision, onClose }: DecideDialogProps) {
  const queries = useQueryClient();
  const [comment, setComment] = useState("");
  async function decide() {
    await decideApproval(env, approval.id, decision, comment);
    toast("ok", decision === "approved" ? "Approved." : "Rejected.");
    close();
  }
  /** Also after an error: somebody else may have decided, and the lists show it. */
  function close() {
    onClose();
    void queries.invalidateQueries({ queryKey: ["approvals", env] });
  }
  return (
    <FormDialog title={`${LABELS[decision]}?`} submit={LABELS[decision]} danger={decision === "rejected"} onClose={close} onSubmit={decide}>
      <p className="strong">{approval.prompt}</p>
      <label className="field">
        <span>Comment (optional)</span>
        <textarea
          className="input"
          rows={3}
          maxLength={COMMENT_UNITS_MAX}
          value={comment}
          onChange={(event) => setComment(event.target.value)}
        />
      </label>
      <p className="second">The function continues with this decision. It can be made once.</p>
    </FormDialog>
  );
}
