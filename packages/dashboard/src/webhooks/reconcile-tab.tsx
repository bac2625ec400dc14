/** Reconciliation of the webhook: what its provider listed, what of it was received, and what was recovered. */

import { SCHEDULED_JOB_DAYS } from "@inlet/protocol/webhook-settings";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { jobQuery } from "../api/jobs.ts";
import {
  previewReconciliation,
  type Reconciliation,
  type ReconciliationPreview,
  reconciliationsQuery,
  startReconciliation,
} from "../api/reconciliations.ts";
import { reload } from "../api/reload.ts";
import { useMayRepairWebhooks } from "../api/session.ts";
import type { Webhook } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { JobProgress } from "../jobs/job-progress.tsx";
import { Icon } from "../ui/icon.tsx";
import { count } from "../ui/numbers.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { withToast } from "../ui/toasts.tsx";
import { ReconcileForm } from "./reconcile-form.tsx";

const HOURS = 72;
const COLUMNS = [
  "Ended",
  "Asked from",
  { title: "Listed", isNumber: true },
  { title: "Seen", isNumber: true },
  { title: "Recovered", isNumber: true },
  { title: "Failed", isNumber: true },
  "Result",
];

export function ReconcileTab({ env, webhook }: { env: string; webhook: Webhook }) {
  const passes = useQuery(reconciliationsQuery(webhook.id));
  if (isUnavailable(passes.error, passes.data)) return <ErrorState error={passes.error} onRetry={() => void passes.refetch()} />;
  if (!passes.data) return <SkeletonRows rows={4} />;
  return (
    <div className="stack">
      {webhook.reconcile ? <CheckNow env={env} webhook={webhook} reconcile={webhook.reconcile} /> : <NotSet />}
      <ReconcileForm webhook={webhook} />
      {passes.data.length > 0 && (
        <Table columns={COLUMNS} isStacked>
          {passes.data.map((pass) => (
            <PassRow key={pass.job} env={env} pass={pass} />
          ))}
        </Table>
      )}
      {passes.data.length === 0 && webhook.reconcile && (
        <div className="card">
          <EmptyState icon="checkCircle" title="No pass yet">
            <p>The first pass comes by itself {webhook.reconcile.every} after reconciliation was set.</p>
          </EmptyState>
        </div>
      )}
    </div>
  );
}

function NotSet() {
  return (
    <div className="card">
      <EmptyState icon="webhook" title="Reconciliation is off">
        <p>Choose a list below to compare what the provider lists with what this webhook received, and to recover missing requests.</p>
      </EmptyState>
    </div>
  );
}

function CheckNow({ env, webhook, reconcile }: { env: string; webhook: Webhook; reconcile: NonNullable<Webhook["reconcile"]> }) {
  const queries = useQueryClient();
  const mayRepair = useMayRepairWebhooks();
  const [started, setStarted] = useState<string | null>(null);
  const [found, setFound] = useState<ReconciliationPreview | null>(null);
  const job = useQuery({ ...jobQuery(env, started ?? ""), enabled: started !== null });
  const isRunning = started !== null && job.data?.endedAt == null;
  async function start() {
    const made = await withToast(startReconciliation(webhook.id, HOURS), `Checking the last ${HOURS} hours.`);
    if (made) setStarted(made.id);
    await reload(queries, ["reconciliations", webhook.id]);
  }
  async function preview() {
    const found = await withToast(previewReconciliation(webhook.id, HOURS), "Nothing was changed.");
    if (found) setFound(found);
  }
  return (
    <div className="row wrap">
      <span className="quiet small grow">
        {reconcile.preset ? `The list of ${reconcile.preset}` : "The list of its source"} is compared every {reconcile.every}, going back{" "}
        {reconcile.lookBack}.{found && <DryRun {...found} />}
      </span>
      {isRunning && job.data && <JobProgress job={job.data} />}
      {mayRepair && (
        <button type="button" className="button" disabled={isRunning || !webhook.enabled} onClick={() => void preview()}>
          Dry run
        </button>
      )}
      {mayRepair && (
        <button type="button" className="button primary" disabled={isRunning || !webhook.enabled} onClick={() => void start()}>
          <Icon name="refresh" size={14} /> Check the last {HOURS} hours
        </button>
      )}
    </div>
  );
}

function DryRun({ listed, seen, recovered, failed, error }: ReconciliationPreview) {
  return (
    <span role="status" className="strong">
      {" "}
      Dry run: {count(listed)} listed, {count(seen)} seen, {count(recovered)} to recover, {count(failed)} would fail.
      {error && ` It would end early: ${error}`}
    </span>
  );
}

function isJobKept({ at, scheduled }: Reconciliation): boolean {
  return !scheduled || Date.now() - Date.parse(at) < SCHEDULED_JOB_DAYS * 86_400_000;
}

function PassRow({ env, pass }: { env: string; pass: Reconciliation }) {
  const { at, since, listed, seen, recovered, failed, error, job } = pass;
  return (
    <tr>
      <td data-label="Ended">
        <Time at={at} />
      </td>
      <td data-label="Asked from">
        <Time at={since} />
      </td>
      <td className="right num" data-label="Listed">
        {count(listed)}
      </td>
      <td className="right num" data-label="Seen">
        {count(seen)}
      </td>
      <td className="right num" data-label="Recovered">
        {recovered > 0 ? <strong>{count(recovered)}</strong> : count(recovered)}
      </td>
      <td className="right num" data-label="Failed">
        {count(failed)}
      </td>
      <td data-label="Result">
        <span className={`badge ${error ? "bad" : failed > 0 ? "warn" : "ok"}`}>{error ? "ended early" : "complete"}</span>{" "}
        {isJobKept(pass) && (
          <Link to="/env/$env/jobs/$id" params={{ env, id: job }} className="small">
            Show the job
          </Link>
        )}
        {error && <div className="second small">{error}</div>}
      </td>
    </tr>
  );
}
