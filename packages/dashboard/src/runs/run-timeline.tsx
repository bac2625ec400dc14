/** The timeline of a run and its steps. Attempts are below their step; repeated steps are one row. */

import { type CSSProperties, useState } from "react";
import type { Run, RunStep } from "../api/types.ts";
import type { IconName } from "../ui/icon.tsx";
import { plural } from "../ui/numbers.ts";
import { preciseDuration, useNow } from "../ui/time.tsx";
import { PHASE_LABELS, type Phase, type PhaseKind, runPhases, stepPhases } from "./phases.ts";
import { FunctionAttempts, StepDetails } from "./step-details.tsx";
import { groupSteps } from "./step-groups.ts";
import { type Span, TimelineRow } from "./timeline-row.tsx";
import { TimelineScale, tickOf } from "./timeline-scale.tsx";
import { WakeTime } from "./wake-time.tsx";

const ICONS: Readonly<Record<string, IconName>> = {
  run: "code",
  send: "send",
  sleep: "moon",
  wait: "hourglass",
  signal: "hourglass",
  approval: "checkCircle",
  invoke: "external",
};

export function RunTimeline({ env, run }: { env: string; run: Run }) {
  const now = useNow(run.endedAt === null ? 250 : 60_000);
  const whole = wholeSpan(run, now);
  const phases = runPhases(run, Math.min(now, whole.to));
  return (
    <section className="card" aria-label="Timeline">
      <div className="card-head">
        <h2 className="grow">Timeline</h2>
        <PhaseLegend phases={phases} />
        <span className="quiet small num">{preciseDuration(whole.to - whole.from)}</span>
      </div>
      <div className="timeline" style={{ "--tick": `${(tickOf(whole) / (whole.to - whole.from)) * 100}%` } as CSSProperties}>
        <TimelineScale span={whole} />
        <TimelineRow label={run.function.name} icon="function" status={run.status} phases={phases} whole={whole} depth={0} />
        {groupSteps(run.steps).map((steps) => (
          <StepGroup key={steps[0]?.id} env={env} run={run} steps={steps} whole={whole} now={now} />
        ))}
        {run.steps.length === 0 && (
          <p className="quiet timeline-empty">{run.endedAt ? "The function has no steps." : "No step has started yet."}</p>
        )}
      </div>
      <FunctionAttempts run={run} />
    </section>
  );
}

/** The kinds of phases that the run has, in chronological order. */
function PhaseLegend({ phases }: { phases: readonly Phase[] }) {
  const kinds = (Object.keys(PHASE_LABELS) as PhaseKind[]).filter((kind) => phases.some((phase) => phase.kind === kind));
  return (
    <span className="row wrap">
      {kinds.map((kind) => (
        <span key={kind} className="legend small second">
          <span className={`phase-swatch ${kind}`} /> {PHASE_LABELS[kind]}
        </span>
      ))}
    </span>
  );
}

interface StepsProps {
  env: string;
  run: Run;
  whole: Span;
  now: number;
}

/** A group with a failed step is open, so that the step can be gone to. */
function StepGroup({ steps, ...props }: StepsProps & { steps: readonly RunStep[] }) {
  const [isOpened, setOpen] = useState<boolean | null>(null);
  const open = isOpened ?? steps.some(({ status }) => status === "failed");
  const [first] = steps;
  if (!first) return null;
  if (steps.length === 1) return <StepRows {...props} step={first} depth={1} />;
  const phases = steps.flatMap((step) => stepPhases(props.run, step, props.now));
  return (
    <>
      <TimelineRow
        label={`${first.name} × ${steps.length}`}
        icon={open ? "chevronDown" : "chevronRight"}
        status={worstOf(steps)}
        phases={phases}
        whole={props.whole}
        note={`${plural(steps.length, "step")} with this name`}
        depth={1}
        isOpen={open}
        onOpen={() => setOpen(!open)}
      />
      {open && steps.map((step) => <StepRows key={step.id} {...props} step={step} depth={2} />)}
    </>
  );
}

/** A group has the status of its most relevant step: a failed one, otherwise an unfinished one. */
function worstOf(steps: readonly RunStep[]): RunStep["status"] {
  const find = (wanted: (step: RunStep) => boolean) => steps.find(wanted)?.status;
  return find(({ status }) => status === "failed") ?? find(({ endedAt }) => endedAt === null) ?? "completed";
}

/** The step, its attempts if there was more than one, and its details when it is open. */
function StepRows({ env, run, whole, now, step, depth }: StepsProps & { step: RunStep; depth: 1 | 2 }) {
  const [open, setOpen] = useState(false);
  const phases = stepPhases(run, step, Math.min(now, whole.to));
  const executions = phases.filter(({ attempt }) => attempt !== undefined);
  const attempts = run.attempts.filter(({ stepId }) => stepId === step.id);
  return (
    <>
      <TimelineRow
        label={step.name}
        icon={ICONS[step.kind] ?? "code"}
        status={step.status}
        phases={phases}
        whole={whole}
        note={step.until && <WakeTime step={step} />}
        depth={depth}
        id={rowId(step)}
        isOpen={open}
        onOpen={() => setOpen(!open)}
      />
      {executions.length > 1 &&
        executions.map((execution) => (
          <TimelineRow
            key={execution.attempt}
            label={`Attempt ${execution.attempt}`}
            icon={execution.kind === "failed" ? "x" : "check"}
            status={execution.kind === "failed" ? "failed" : "completed"}
            phases={[execution]}
            whole={whole}
            note={execution.error}
            depth={2}
          />
        ))}
      {open && <StepDetails env={env} run={run} step={step} attempts={attempts} />}
    </>
  );
}

function rowId({ id }: RunStep): string {
  return `step-${id}`;
}

/** Leads to the step that failed last, and opens it. */
export function FailedStepButton({ run: { steps, status } }: { run: Run }) {
  const failed = steps.findLast((step) => step.status === "failed");
  if (status !== "failed" || !failed) return null;
  function go(step: RunStep) {
    const row = document.getElementById(rowId(step));
    if (row?.getAttribute("aria-expanded") === "false") row.click();
    row?.focus();
    row?.scrollIntoView({ block: "center" });
  }
  return (
    <button type="button" className="button small" onClick={() => go(failed)}>
      Go to the failed step
    </button>
  );
}

/** From the creation of the run to its end or to now. Never empty, so that shares of it can be computed. */
function wholeSpan(run: Run, now: number): Span {
  const from = Date.parse(run.createdAt);
  const ends = [...run.steps.map(({ endedAt }) => endedAt), run.endedAt].flatMap((at) => (at === null ? [] : [Date.parse(at)]));
  const to = run.endedAt === null ? Math.max(now, ...ends) : Math.max(...ends);
  return { from, to: Math.max(to, from + 1) };
}
