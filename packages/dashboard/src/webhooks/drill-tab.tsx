/** Drills of the webhook in a branch environment: starting one, and the report of the last. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { jobQuery, lastDrillQuery, startDrill } from "../api/jobs.ts";
import { environmentsQuery } from "../api/queries.ts";
import { useMayRepairWebhooks } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { DrillReport } from "../jobs/drill-report.tsx";
import { JobProgress } from "../jobs/job-progress.tsx";
import { JobStatusBadge } from "../jobs/job-status.tsx";
import { Icon } from "../ui/icon.tsx";
import { EmptyState, ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { withToast } from "../ui/toasts.tsx";

export function DrillTab({ env, webhook }: { env: string; webhook: Webhook }) {
  const environments = useQuery(environmentsQuery);
  const [chosen, setChosen] = useState<string | null>(null);
  if (webhook.environment !== "branch") {
    return (
      <div className="card">
        <EmptyState icon="webhook" title="Only webhooks of all branches can be drilled">
          <p>A drill runs the functions of a branch environment. Create a webhook for all branches, with the same transform.</p>
        </EmptyState>
      </div>
    );
  }
  if (isUnavailable(environments.error, environments.data))
    return <ErrorState error={environments.error} onRetry={() => void environments.refetch()} />;
  if (!environments.data) return <SkeletonRows rows={4} />;
  const branches = environments.data.filter(({ kind, archivedAt }) => kind === "branch" && archivedAt === null).map(({ name }) => name);
  const branch = chosen ?? (branches.includes(env) ? env : branches[0]);
  if (branch === undefined) return <NoBranches env={env} />;
  return (
    <div className="stack">
      <div className="row wrap">
        <select className="input" aria-label="Branch environment" value={branch} onChange={({ target }) => setChosen(target.value)}>
          {branches.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <span className="quiet small grow">
          Sends samples of the provider, signed with the webhook's secret, then doubled, in another order, retried, forged and malformed.
        </span>
        <StartDrill webhook={webhook} branch={branch} />
      </div>
      <LastDrill key={branch} webhook={webhook} branch={branch} />
    </div>
  );
}

function NoBranches({ env }: { env: string }) {
  return (
    <div className="card">
      <EmptyState icon="layers" title="No branch environment">
        <p>A drill runs the functions of a branch environment. Create one, and sync an app to it.</p>
        <Link to="/env/$env/environments" params={{ env }} className="button">
          Show environments
        </Link>
      </EmptyState>
    </div>
  );
}

function StartDrill({ webhook, branch }: { webhook: Webhook; branch: string }) {
  const queries = useQueryClient();
  const [isStarting, setStarting] = useState(false);
  const mayRepair = useMayRepairWebhooks();
  async function start() {
    setStarting(true);
    const job = await withToast(startDrill(webhook.id, branch), "Drill started.");
    if (job) queries.setQueryData(lastDrillQuery(branch, webhook.id).queryKey, job);
    setStarting(false);
  }
  if (!mayRepair) return null;
  return (
    <button type="button" className="button primary" disabled={isStarting} onClick={() => void start()}>
      <Icon name="play" size={14} /> Start drill
    </button>
  );
}

function LastDrill({ webhook, branch }: { webhook: Webhook; branch: string }) {
  const last = useQuery(lastDrillQuery(branch, webhook.id));
  const job = useQuery({ ...jobQuery(branch, last.data?.id ?? ""), enabled: last.data != null });
  const failed = [last, job].find(({ error, data }) => isUnavailable(error, data));
  if (failed) return <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />;
  if (last.data === null) {
    return (
      <div className="card">
        <EmptyState icon="checkCircle" title="No drill yet">
          <p>Drill the webhook before you rely on it: the report names functions that run twice for one event.</p>
        </EmptyState>
      </div>
    );
  }
  if (!job.data) return <SkeletonRows rows={6} />;
  const { status, createdAt, errors, report, endedAt } = job.data;
  return (
    <>
      <div className="row wrap">
        <JobStatusBadge status={status} />
        <span className="quiet small">
          <Time at={createdAt} />
        </span>
        {endedAt === null && <JobProgress job={job.data} />}
        <Link to="/env/$env/jobs/$id" params={{ env: branch, id: job.data.id }} className="small">
          Show the job
        </Link>
      </div>
      {status === "failed" && (
        <Notice kind="bad" icon="alert">
          {errors.at(-1)?.message}
        </Notice>
      )}
      {report && <DrillReport job={job.data} report={report} />}
    </>
  );
}
