/** The status of a run or step: colour, icon and label. */

import type { RunStatus, StepStatus } from "../api/types.ts";
import { Icon, type IconName } from "../ui/icon.tsx";

export const STATUS_BADGES: Record<RunStatus | StepStatus, { kind: string; icon: IconName; label: string }> = {
  queued: { kind: "", icon: "circleDashed", label: "Queued" },
  planned: { kind: "", icon: "circleDashed", label: "Planned" },
  running: { kind: "info", icon: "spinner", label: "Running" },
  sleeping: { kind: "calm", icon: "moon", label: "Sleeping" },
  waiting: { kind: "warn", icon: "hourglass", label: "Waiting" },
  completed: { kind: "ok", icon: "checkCircle", label: "Completed" },
  failed: { kind: "bad", icon: "xCircle", label: "Failed" },
  cancelled: { kind: "", icon: "slash", label: "Cancelled" },
};

export function statusWord(status: RunStatus | StepStatus): string {
  return STATUS_BADGES[status]?.label ?? status;
}

export function RunStatusBadge({ status }: { status: RunStatus | StepStatus }) {
  const { kind, icon, label } = STATUS_BADGES[status] ?? { kind: "", icon: "circle", label: status };
  return (
    <span className={`badge ${kind}`}>
      <Icon name={icon} size={13} className={status === "running" ? "spin" : ""} />
      {label}
    </span>
  );
}
