/** The steps of a run on a timeline: start, end, sleeps, waits and failed attempts. */

import { type CSSProperties, useState } from "react";
import type { Run, RunStep } from "../api/types.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { duration, useNow } from "../ui/time.tsx";
import { RunStatusBadge } from "./run-status.tsx";
import { FunctionAttempts, StepDetails } from "./step-details.tsx";

const ICONS: Readonly<Record<string, IconName>> = { run: "code", sleep: "moon", wait: "hourglass", invoke: "external" };

interface Span {
  from: number;
  to: number;
}

export function RunTimeline({ env, run }: { env: string; run: Run }) {
  const now = useNow(run.endedAt === null ? 250 : 60_000);
  const [open, setOpen] = useState<string | null>(null);
  const whole = wholeSpan(run, now);
  return (
    <section className="card" aria-label="Timeline">
      <div className="card-head">
        <h2 className="grow">Timeline</h2>
        <span className="quiet small num">{duration(whole.to - whole.from)}</span>
      </div>
      <div className="timeline" style={{ "--tick": `${(tickOf(whole) / (whole.to - whole.from)) * 100}%` } as CSSProperties}>
        <TimelineScale span={whole} />
        <Row
          label={run.function.name}
          icon="function"
          status={run.status}
          bar={offsetsIn({ from: startOf(run), to: whole.to }, whole)}
          text=""
        />
        {run.steps.map((step) => (
          <StepRow
            key={step.id}
            env={env}
            run={run}
            step={step}
            whole={whole}
            now={now}
            isOpen={open === step.id}
            onOpen={() => setOpen(open === step.id ? null : step.id)}
          />
        ))}
        {run.steps.length === 0 && (
          <p className="quiet timeline-empty">{run.endedAt ? "The function has no steps." : "No step has started yet."}</p>
        )}
      </div>
      <FunctionAttempts attempts={run.attempts.filter(({ stepId }) => stepId === null)} />
    </section>
  );
}

interface StepRowProps {
  env: string;
  run: Run;
  step: RunStep;
  whole: Span;
  now: number;
  isOpen: boolean;
  onOpen: () => void;
}

function StepRow({ env, run, step, whole, now, isOpen, onOpen }: StepRowProps) {
  const attempts = run.attempts.filter(({ stepId }) => stepId === step.id);
  const span =
    step.startedAt === null
      ? null
      : { from: Date.parse(step.startedAt), to: step.endedAt === null ? Math.min(now, whole.to) : Date.parse(step.endedAt) };
  return (
    <>
      <Row
        label={step.name}
        icon={ICONS[step.kind] ?? "code"}
        status={step.status}
        isPause={step.kind === "sleep" || step.kind === "wait"}
        bar={span && offsetsIn(span, whole)}
        text={span ? duration(Math.max(0, span.to - span.from)) : ""}
        isOpen={isOpen}
        onOpen={onOpen}
        marks={attempts.map((attempt) => ({
          at: offsetsIn({ from: Date.parse(attempt.startedAt), to: Date.parse(attempt.startedAt) }, whole).left,
          title: attempt.error?.message ?? attempt.outcome,
        }))}
      />
      {isOpen && <StepDetails env={env} step={step} attempts={attempts} />}
    </>
  );
}

interface RowProps {
  label: string;
  icon: IconName;
  status: RunStep["status"] | Run["status"];
  bar: { left: number; width: number } | null;
  text: string;
  /** Sleeping or waiting. */
  isPause?: boolean;
  isOpen?: boolean;
  onOpen?: () => void;
  marks?: { at: number; title: string }[];
}

function Row({ label, icon, status, bar, text, isPause = false, isOpen = false, onOpen, marks = [] }: RowProps) {
  const content = (
    <>
      <span className="timeline-name">
        <Icon name={icon} size={14} className="quiet" />
        <span className="cut strong">{label}</span>
      </span>
      <span className="timeline-status">
        <RunStatusBadge status={status} />
      </span>
      <span className="timeline-track">
        {bar && (
          <span
            className={`timeline-bar ${isPause ? "pause" : status}`}
            style={{ left: `${bar.left}%`, width: `max(3px, ${bar.width}%)` }}
          />
        )}
        {marks.map(({ at, title }) => (
          <span key={`${at} ${title}`} className="timeline-mark" style={{ left: `${at}%` }} title={`Failed attempt: ${title}`} />
        ))}
      </span>
      <span className="timeline-text quiet num">{text}</span>
    </>
  );
  if (!onOpen) return <div className="timeline-row">{content}</div>;
  return (
    <button type="button" className="timeline-row" aria-expanded={isOpen} onClick={onOpen}>
      {content}
    </button>
  );
}

function TimelineScale({ span }: { span: Span }) {
  const length = span.to - span.from;
  const tick = tickOf(span);
  // Omit a tick whose label would overflow at the end.
  const ticks = Array.from({ length: Math.floor(length / tick) + 1 }, (_, n) => n * tick).filter((at) => at <= length * 0.9);
  return (
    <div className="timeline-row timeline-scale" aria-hidden="true">
      <span />
      <span className="timeline-status" />
      <span className="timeline-track">
        {ticks.map((at) => (
          <span key={at} className="timeline-tick quiet num" style={{ left: `${(at / length) * 100}%` }}>
            {at === 0 ? "0" : duration(at)}
          </span>
        ))}
      </span>
      <span />
    </div>
  );
}

const TICKS_MAX = 6;
/** Round intervals in milliseconds; longer ones are whole days. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000],
  ...[60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000],
];
const DAY_MS = 86_400_000;

/** The interval between grid lines: a round time, with few lines. */
function tickOf({ from, to }: Span): number {
  const length = to - from;
  return STEPS_MS.find((ms) => length / ms <= TICKS_MAX) ?? Math.ceil(length / DAY_MS / TICKS_MAX) * DAY_MS;
}

function startOf(run: Run): number {
  return Date.parse(run.startedAt ?? run.createdAt);
}

/** From the start of the run to its end or to now. Never empty, so that shares of it can be computed. */
function wholeSpan(run: Run, now: number): Span {
  const from = startOf(run);
  const ends = [...run.steps.map(({ endedAt }) => endedAt), run.endedAt].flatMap((at) => (at === null ? [] : [Date.parse(at)]));
  const to = run.endedAt === null ? Math.max(now, ...ends) : Math.max(...ends);
  return { from, to: Math.max(to, from + 1) };
}

function offsetsIn(span: Span, whole: Span): { left: number; width: number } {
  const length = whole.to - whole.from;
  const left = Math.min(100, Math.max(0, ((span.from - whole.from) / length) * 100));
  return { left, width: Math.min(100 - left, (Math.max(0, span.to - span.from) / length) * 100) };
}
