/** Details of one step: times, wait condition, failed attempts and output. */

import { Link } from "@tanstack/react-router";
import type { Run, RunAttempt, RunStep } from "../api/types.ts";
import { StepApproval } from "../approvals/step-approval.tsx";
import { Fact } from "../ui/fact.tsx";
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
      <StepFacts env={env} run={run} step={step} />
      {step.error && <RunErrorBox error={step.error} />}
      <AttemptList attempts={attempts} />
      <RunLogs run={run} stepId={step.id} title="Log" />
      {step.output !== null && <Payload text={step.output} title="Output" />}
    </div>
  );
}

function StepFacts({ env, run, step }: Omit<StepDetailsProps, "attempts">) {
  return (
    <dl className="facts">
      <Fact label="Kind">{step.kind}</Fact>
      <Fact label="Started">
        <Time at={step.startedAt} full />
      </Fact>
      <Fact label="Ended">
        <Time at={step.endedAt} full />
      </Fact>
      {step.until && (
        <Fact label={TIMED_OUT.has(step.kind) ? "Times out at" : "Wakes at"}>
          <Time at={step.until} full />
        </Fact>
      )}
      <WaitFacts env={env} step={step} />
      {step.childRunId && (
        <Fact label="Invoked run">
          <Link to="/env/$env/runs/$id" params={{ env, id: step.childRunId }} className="mono">
            {step.childRunId}
          </Link>
        </Fact>
      )}
      <Fact label="Attempts">{step.attempts}</Fact>
      {[...totalsOf(stepPhases(run, step, Date.now()))].map(([kind, ms]) => (
        <Fact key={kind} label={PHASE_LABELS[kind]} className="num">
          {preciseDuration(ms)}
        </Fact>
      ))}
    </dl>
  );
}

/** What it waits for, or was resumed by. */
function WaitFacts({ env, step }: Pick<StepDetailsProps, "env" | "step">) {
  return (
    <>
      {step.eventName && (
        <Fact label="Waits for">
          <code>{step.eventName}</code>
        </Fact>
      )}
      {step.eventId && (
        <Fact label="Resumed by">
          <Link to="/env/$env/events/$id" params={{ env, id: step.eventId }} className="mono">
            {step.eventId}
          </Link>
        </Fact>
      )}
      {step.signal && (
        <Fact label="Waits for signal">
          <code>{step.signal}</code>
        </Fact>
      )}
      {step.approvalId && (
        <Fact label="Approval">
          <StepApproval env={env} id={step.approvalId} />
        </Fact>
      )}
    </>
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
