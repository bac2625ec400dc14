/** Details of one step: times, wait condition, failed attempts and output. */

import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Run, RunAttempt, RunStep } from "../api/types.ts";
import { StepApproval } from "../approvals/step-approval.tsx";
import { plural } from "../ui/numbers.ts";
import { Payload } from "../ui/payload.tsx";
import { preciseDuration, Time } from "../ui/time.tsx";
import { PHASE_LABELS, stepPhases, totalsOf } from "./phases.ts";
import { RerunFromStep } from "./rerun-from-step.tsx";
import { ResumeStep } from "./resume-step.tsx";
import { RunErrorBox } from "./run-error.tsx";
import { RunLogs } from "./run-logs.tsx";

/** Steps that wait at most until then. */
const TIMED_OUT: ReadonlySet<string> = new Set(["wait", "signal", "approval"]);

interface StepDetailsProps {
  env: string;
  run: Run;
  step: RunStep;
  attempts: RunAttempt[];
}

export function StepDetails({ env, run, step, attempts }: StepDetailsProps) {
  return (
    <div className="step-details stack">
      <div className="row wrap">
        <RerunFromStep env={env} run={run} step={step} />
        <ResumeStep env={env} run={run} step={step} />
      </div>
      <dl className="facts">
        <dt>Kind</dt>
        <dd>{step.kind}</dd>
        <dt>Started</dt>
        <dd>
          <Time at={step.startedAt} full />
        </dd>
        <dt>Ended</dt>
        <dd>
          <Time at={step.endedAt} full />
        </dd>
        {step.until && (
          <>
            <dt>{TIMED_OUT.has(step.kind) ? "Times out at" : "Wakes at"}</dt>
            <dd>
              <Time at={step.until} full />
            </dd>
          </>
        )}
        {step.eventName && (
          <>
            <dt>Waits for</dt>
            <dd>
              <code>{step.eventName}</code>
            </dd>
          </>
        )}
        {step.eventId && (
          <>
            <dt>Resumed by</dt>
            <dd>
              <Link to="/env/$env/events/$id" params={{ env, id: step.eventId }} className="mono">
                {step.eventId}
              </Link>
            </dd>
          </>
        )}
        {step.signal && (
          <>
            <dt>Waits for signal</dt>
            <dd>
              <code>{step.signal}</code>
            </dd>
          </>
        )}
        {step.approvalId && (
          <>
            <dt>Approval</dt>
            <dd>
              <StepApproval env={env} id={step.approvalId} />
            </dd>
          </>
        )}
        {step.childRunId && (
          <>
            <dt>Invoked run</dt>
            <dd>
              <Link to="/env/$env/runs/$id" params={{ env, id: step.childRunId }} className="mono">
                {step.childRunId}
              </Link>
            </dd>
          </>
        )}
        <dt>Attempts</dt>
        <dd>{step.attempts}</dd>
        {[...totalsOf(stepPhases(run, step, Date.now()))].map(([kind, ms]) => (
          <Fragment key={kind}>
            <dt>{PHASE_LABELS[kind]}</dt>
            <dd className="num">{preciseDuration(ms)}</dd>
          </Fragment>
        ))}
      </dl>
      {step.error && <RunErrorBox error={step.error} />}
      <AttemptList attempts={attempts} />
      <RunLogs run={run} stepId={step.id} title="Log" />
      {step.output !== null && <Payload text={step.output} title="Output" />}
    </div>
  );
}

export function FunctionAttempts({ run }: { run: Run }) {
  const attempts = run.attempts.filter(({ stepId }) => stepId === null);
  const isLogging = run.calls.some(({ logs }) => logs?.lines.some(({ stepId }) => stepId === null));
  if (attempts.length === 0 && !isLogging) return null;
  return (
    <div className="step-details stack">
      {attempts.length > 0 && <h3>{plural(attempts.length, "failed call")} outside steps</h3>}
      <AttemptList attempts={attempts} />
      <RunLogs run={run} stepId={null} title="Log outside steps" />
    </div>
  );
}

function AttemptList({ attempts }: { attempts: RunAttempt[] }) {
  return (
    <>
      {attempts.map((attempt) => (
        <div key={attempt.attempt} className="stack tight">
          <div className="row small second">
            <span>Attempt {attempt.attempt + 1}</span>
            <Time at={attempt.startedAt} full />
            {attempt.httpStatus !== null && <span className="chip">HTTP {attempt.httpStatus}</span>}
            <span className="quiet">{attempt.outcome}</span>
          </div>
          {attempt.error && <RunErrorBox error={attempt.error} />}
        </div>
      ))}
    </>
  );
}
