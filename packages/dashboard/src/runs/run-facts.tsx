/** What a run is about: what started it, its reruns, its times and ids. */

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Run } from "../api/types.ts";
import { CopyButton } from "../ui/copy.tsx";
import { Time } from "../ui/time.tsx";
import { RunDuration } from "./run-duration.tsx";
import { RunStatusBadge } from "./run-status.tsx";

export function RunFacts({ env, run }: { env: string; run: Run }) {
  return (
    <dl className="fact-strip">
      <Fact label="Started by">
        {run.event && !run.cron ? (
          <Link to="/env/$env/events/$id" params={{ env, id: run.event.id }}>
            {run.event.name}
          </Link>
        ) : (
          <span className="mono">cron {run.cron}</span>
        )}
      </Fact>
      {run.invokedBy && (
        <Fact label="Invoked by">
          <RunLink env={env} id={run.invokedBy} />
        </Fact>
      )}
      {run.cancelledBy && (
        <Fact label="Cancelled by">
          <Link to="/env/$env/events/$id" params={{ env, id: run.cancelledBy }} className="mono cut">
            {run.cancelledBy}
          </Link>
        </Fact>
      )}
      {run.job && (
        <Fact label="Job">
          <Link to="/env/$env/jobs/$id" params={{ env, id: run.job }} className="mono">
            {run.job}
          </Link>
        </Fact>
      )}
      <Fact label="Function">
        <Link to="/env/$env/functions/$id" params={{ env, id: run.function.id }}>
          {run.function.id}
        </Link>
      </Fact>
      <Fact label="Created">
        <Time at={run.createdAt} full />
      </Fact>
      <Fact label="Duration">
        <span className="num">
          <RunDuration run={run} />
        </span>
      </Fact>
      {run.originalRunId && (
        <Fact label="Rerun of">
          <RunLink env={env} id={run.originalRunId} />
        </Fact>
      )}
      {run.rerun && (
        <Fact label="Rerun as">
          <span className="row">
            <RunLink env={env} id={run.rerun.id} />
            <RunStatusBadge status={run.rerun.status} />
          </span>
        </Fact>
      )}
      {run.traceId && (
        <Fact label="Trace">
          <TraceLink id={run.traceId} url={run.traceUrl} />
        </Fact>
      )}
      <Fact label="Run ID">
        <Id text={run.id} label="Copy Run ID" />
      </Fact>
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function RunLink({ env, id }: { env: string; id: string }) {
  return (
    <Link to="/env/$env/runs/$id" params={{ env, id }} className="mono cut">
      {id}
    </Link>
  );
}

function TraceLink({ id, url }: { id: string; url: string | null }) {
  if (url === null) return <Id text={id} label="Copy trace id" />;
  return (
    <a href={url} target="_blank" rel="noreferrer" className="mono cut">
      {id}
    </a>
  );
}

function Id({ text, label }: { text: string; label: string }) {
  return (
    <span className="row" style={{ gap: 2 }}>
      <span className="mono cut">{text}</span> <CopyButton text={text} label={label} />
    </span>
  );
}
