/** The status of a run or step: a colour, a shape and a word. */

import type { RunStatus, StepStatus } from "../api/types.ts";
import { Icon, type IconName } from "../ui/icon.tsx";

const LOOKS: Record<RunStatus | StepStatus, { kind: string; icon: IconName; word: string }> = {
  queued: { kind: "", icon: "circleDashed", word: "Queued" },
  planned: { kind: "", icon: "circleDashed", word: "Planned" },
  running: { kind: "info", icon: "spinner", word: "Running" },
  sleeping: { kind: "calm", icon: "moon", word: "Sleeping" },
  waiting: { kind: "warn", icon: "hourglass", word: "Waiting" },
  completed: { kind: "ok", icon: "checkCircle", word: "Completed" },
  failed: { kind: "bad", icon: "xCircle", word: "Failed" },
  cancelled: { kind: "", icon: "slash", word: "Cancelled" },
};

export function statusWord(status: RunStatus | StepStatus): string {
  return LOOKS[status]?.word ?? status;
}

export function RunStatusBadge({ status }: { status: RunStatus | StepStatus }) {
  const { kind, icon, word } = LOOKS[status] ?? { kind: "", icon: "circle", word: status };
  return (
    <span className={`badge ${kind}`}>
      <Icon name={icon} size={13} className={status === "running" ? "spin" : ""} />
      {word}
    </span>
  );
}
