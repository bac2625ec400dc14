/** The status of an approval: colour, icon and label. */

import type { ApprovalStatus } from "../api/approvals.ts";
import { Icon, type IconName } from "../ui/icon.tsx";

const BADGES: Record<ApprovalStatus, { kind: string; icon: IconName; label: string }> = {
  open: { kind: "info", icon: "hourglass", label: "Open" },
  approved: { kind: "ok", icon: "checkCircle", label: "Approved" },
  rejected: { kind: "bad", icon: "xCircle", label: "Rejected" },
  expired: { kind: "", icon: "clock", label: "Expired" },
  cancelled: { kind: "", icon: "slash", label: "Cancelled" },
};

export function ApprovalStatusBadge({ status }: { status: ApprovalStatus }) {
  const { kind, icon, label } = BADGES[status];
  return (
    <span className={`badge ${kind}`}>
      <Icon name={icon} size={13} />
      {label}
    </span>
  );
}
