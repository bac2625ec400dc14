/** One row of the timeline: a name, a status, phases on the time axis, and a duration. */

import type { ReactNode } from "react";
import type { Run, RunStep } from "../api/types.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { preciseDuration, preciseTime } from "../ui/time.tsx";
import { PHASE_LABELS, type Phase } from "./phases.ts";
import { RunStatusBadge } from "./run-status.tsx";

export interface Span {
  from: number;
  to: number;
}

interface RowProps {
  label: string;
  icon: IconName;
  status: RunStep["status"] | Run["status"];
  phases: readonly Phase[];
  whole: Span;
  /** Below the name: when it wakes, or the error. */
  note?: ReactNode;
  /** 0 for the function, 1 for steps, 2 for rows below a step. */
  depth: 0 | 1 | 2;
  isOpen?: boolean;
  onOpen?: () => void;
  /** Identifies the row in the document. */
  id?: string;
}

export function TimelineRow({ label, icon, status, phases, whole, note, depth, isOpen = false, onOpen, id }: RowProps) {
  const first = phases[0];
  const last = phases.at(-1);
  const content = (
    <>
      <span className={`timeline-name depth-${depth}`}>
        <Icon name={icon} size={14} className="quiet" />
        <span className="timeline-label">
          <span className="cut strong">{label}</span>
          {note && <span className="quiet small cut">{note}</span>}
        </span>
      </span>
      <span className="timeline-status">
        <RunStatusBadge status={status} />
      </span>
      <span className="timeline-track">
        {phases.map((phase) => (
          <PhaseBar key={`${phase.kind} ${phase.from}`} phase={phase} whole={whole} />
        ))}
      </span>
      <span className="timeline-text quiet num">{first && last ? preciseDuration(last.to - first.from) : ""}</span>
    </>
  );
  if (!onOpen) return <div className="timeline-row">{content}</div>;
  return (
    <button type="button" id={id} className="timeline-row" aria-expanded={isOpen} onClick={onOpen}>
      {content}
    </button>
  );
}

function PhaseBar({ phase, whole }: { phase: Phase; whole: Span }) {
  const length = whole.to - whole.from;
  const left = Math.min(100, Math.max(0, ((phase.from - whole.from) / length) * 100));
  const width = Math.min(100 - left, ((phase.to - phase.from) / length) * 100);
  return (
    <span className={`phase ${phase.kind}`} style={{ left: `${left}%`, width: `max(2px, ${width}%)` }} title={phaseTitle(phase)}>
      <span className="visually-hidden">{`${PHASE_LABELS[phase.kind]} ${preciseDuration(phase.to - phase.from)}`}</span>
    </span>
  );
}

function phaseTitle({ kind, from, to, attempt, error }: Phase): string {
  const name = attempt === undefined ? PHASE_LABELS[kind] : `${PHASE_LABELS[kind]}, attempt ${attempt}`;
  return `${name}: ${preciseDuration(to - from)}\n${preciseTime(from)} – ${preciseTime(to)}${error ? `\n${error}` : ""}`;
}
