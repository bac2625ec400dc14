/** The status of a job: colour, icon and label. */

import type { JobView } from "@inlet/protocol";
import { Icon, type IconName } from "../ui/icon.tsx";

const BADGES: Record<JobView["status"], { kind: string; icon: IconName; label: string }> = {
  queued: { kind: "", icon: "circleDashed", label: "Queued" },
  running: { kind: "info", icon: "spinner", label: "Running" },
  completed: { kind: "ok", icon: "checkCircle", label: "Completed" },
  cancelled: { kind: "", icon: "slash", label: "Cancelled" },
  failed: { kind: "bad", icon: "xCircle", label: "Failed" },
};

export function JobStatusBadge({ status }: { status: JobView["status"] }) {
  const { kind, icon, label } = BADGES[status];
  return (
    <span className={`badge ${kind}`}>
      <Icon name={icon} size={13} className={status === "running" ? "spin" : ""} />
      {label}
    </span>
  );
}
