/** One job: its progress, its failures, and the runs it started. */

import type { JobRuns, JobView } from "@inlet/protocol";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { cancelJob, jobQuery } from "../api/jobs.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair } from "../api/session.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { PageTitle } from "../shell/page-title.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Crumbs, LeadTo } from "../ui/crumbs.tsx";
import { Icon } from "../ui/icon.tsx";
import { count, plural } from "../ui/numbers.ts";
import { ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { duration, Time, useNow } from "../ui/time.tsx";
import { withToast } from "../ui/toasts.tsx";
import { DrillReport } from "./drill-report.tsx";
import { JobProgress } from "./job-progress.tsx";
import { JobStatusBadge } from "./job-status.tsx";
import { filterText, wordsOf } from "./job-words.ts";

export function JobPage() {
  const { env, id } = useParams({ from: "/env/$env/jobs/$id" });
  const { data: job, error, refetch } = useQuery(jobQuery(env, id));
  if (isUnavailable(error, job))
    return (
      <ErrorState
        error={error}
        title="This job could not be loaded"
        onRetry={() => void refetch()}
        lead={<LeadTo env={env} to="/env/$env/jobs" list="Jobs" />}
      />
    );
  if (!job) return <SkeletonRows />;
  return (
    <div className="page">
      <PageTitle text={`${wordsOf(job.kind).title} ${job.status}`} />
      <Crumbs env={env} to="/env/$env/jobs" list="Jobs">
        <span className="mono">{job.id}</span>
      </Crumbs>
      <div className="page-head">
        <h1>{wordsOf(job.kind).title}</h1>
        <JobStatusBadge status={job.status} />
        <JobActions env={env} job={job} />
      </div>
      <section className="card card-body stack" aria-label="Progress">
        <JobProgress job={job} />
        <p className="second">
          <Pace job={job} />
        </p>
      </section>
      {job.runs && <JobOutcome env={env} id={job.id} runs={job.runs} />}
      <JobFacts job={job} />
      {job.report && <DrillReport job={job} report={job.report} />}
      {job.failed > 0 && <JobErrors job={job} />}
    </div>
  );
}

/** What became of the runs that it started: an item that was processed has only started one. */
function JobOutcome({ env, id, runs }: { env: string; id: string; runs: JobRuns }) {
  const { completed, failed, cancelled, unfinished } = runs;
  const all = completed + failed + cancelled + unfinished;
  if (all === 0) return null;
  const parts = [
    ["completed", completed, "completed"],
    ["failed", failed, "failed again"],
    ["cancelled", cancelled, "cancelled"],
  ] as const;
  return (
    <Notice kind={failed > 0 ? "warn" : unfinished > 0 ? "info" : "ok"} icon={failed > 0 ? "alert" : "activity"}>
      Of {plural(all, "run")} that this job started:{" "}
      {parts
        .filter(([, number]) => number > 0)
        .map(([status, number, words]) => (
          <span key={status}>
            <Link to="/env/$env/runs" params={{ env }} search={{ job: id, status }}>
              {count(number)} {words}
            </Link>
            ,{" "}
          </span>
        ))}
      {unfinished === 0 ? "none is still running" : `${count(unfinished)} still run`}.
    </Notice>
  );
}

function JobActions({ env, job }: { env: string; job: JobView }) {
  const queries = useQueryClient();
  const mayRepair = useMayRepair();
  async function cancel() {
    await withToast(cancelJob(env, job.id), "Job cancelled. Completed items are not undone.");
    await reload(queries, ["jobs", env]);
  }
  return (
    <div className="actions">
      {job.kind !== "runs.cancel" && job.kind !== "webhooks.drill" && (
        <Link to="/env/$env/runs" params={{ env }} search={{ job: job.id }} className="button">
          <Icon name="activity" /> Show its runs
        </Link>
      )}
      {mayRepair && job.endedAt === null && (
        <button type="button" className="button danger" onClick={() => void cancel()}>
          <Icon name="slash" /> Cancel job
        </button>
      )}
    </div>
  );
}

function Pace({ job: { total, done, rate, startedAt, endedAt } }: { job: JobView }) {
  const now = useNow(1_000);
  if (startedAt === null)
    return (
      <>
        {endedAt === null ? "Waiting to start." : "Ended before it started."} {plural(total, "item")} found so far.
      </>
    );
  const tookMs = (endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt);
  if (endedAt !== null) return <>Took {duration(Math.max(0, tookMs))}.</>;
  const leftMs = ((total - done) / rate) * 1_000;
  return (
    <>
      At most {plural(rate, "item")} per second; about {duration(Math.ceil(leftMs / 1_000) * 1_000)} left.
    </>
  );
}

function JobFacts({ job }: { job: JobView }) {
  return (
    <dl className="fact-strip">
      <div>
        <dt>Filter</dt>
        <dd>{filterText(job)}</dd>
      </div>
      <div>
        <dt>Total</dt>
        <dd className="num">{count(job.total)}</dd>
      </div>
      <div>
        <dt>Done</dt>
        <dd className="num">{count(job.done)}</dd>
      </div>
      <div>
        <dt>Failed</dt>
        <dd className="num">{count(job.failed)}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <Time at={job.createdAt} full />
        </dd>
      </div>
      {job.endedAt && (
        <div>
          <dt>Ended</dt>
          <dd>
            <Time at={job.endedAt} full />
          </dd>
        </div>
      )}
      <div>
        <dt>Job ID</dt>
        <dd className="row" style={{ gap: 2 }}>
          <span className="mono cut">{job.id}</span> <CopyButton text={job.id} label="Copy Job ID" />
        </dd>
      </div>
    </dl>
  );
}

function JobErrors({ job: { errors, failed } }: { job: JobView }) {
  return (
    <section className="stack" aria-label="Errors">
      <h2>{plural(failed, "item")} failed</h2>
      {errors.map(({ item, message }) => (
        <Notice key={`${item} ${message}`} kind="bad" icon="xCircle">
          {item && <span className="mono">{item}: </span>}
          {message}
        </Notice>
      ))}
      {failed > errors.length && <p className="quiet">The first {errors.length} are shown.</p>}
    </section>
  );
}
