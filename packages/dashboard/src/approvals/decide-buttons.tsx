/** Decides an approval, for those who may. A dialog shows what is asked and takes a comment: it is the second click. */

import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Approval, type Decision, decideApproval } from "../api/approvals.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair } from "../api/session.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { toast } from "../ui/toasts.tsx";

const LABELS: Readonly<Record<Decision, string>> = { approved: "Approve", rejected: "Reject" };
const COMMENT_UNITS_MAX = 2_000;

/** What a dialog is open for. Its owner stays when somebody else decides meanwhile, so that the dialog says so and does not vanish. */
export interface Deciding {
  approval: Approval;
  decision: Decision;
}

export function DecideButtons({ approval, onDecide }: { approval: Approval; onDecide: (deciding: Deciding) => void }) {
  const mayRepair = useMayRepair();
  if (!mayRepair || approval.status !== "open") return null;
  const about = <span className="visually-hidden"> {approval.prompt}</span>;
  return (
    <div className="row row-actions">
      <button type="button" className="button small primary" onClick={() => onDecide({ approval, decision: "approved" })}>
        Approve{about}
      </button>
      <button type="button" className="button small danger" onClick={() => onDecide({ approval, decision: "rejected" })}>
        Reject{about}
      </button>
    </div>
  );
}

interface DecideDialogProps extends Deciding {
  env: string;
  onClose: () => void;
}

export function DecideDialog({ env, approval, decision, onClose }: DecideDialogProps) {
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
    void reload(queries, ["approvals", env]);
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
