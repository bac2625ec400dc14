/** One run: trigger, steps on a timeline, calls and output. Updates live while the run is unfinished. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../api/client.ts";
import { eventQuery, runQuery } from "../api/queries.ts";
import { sentEvent } from "../api/read-items.ts";
import { reload } from "../api/reload.ts";
import { useMayRepair, useMaySend } from "../api/session.ts";
import { ENDED_STATUSES, type Run, type RunItem } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { SendToDevServer } from "../dev-server/send-to-dev-server.tsx";
import { SendEventDialog } from "../events/send-event.tsx";
import { PageTitle } from "../shell/page-title.tsx";
import { Crumbs, LeadTo } from "../ui/crumbs.tsx";
import { FormDialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { Payload } from "../ui/payload.tsx";
import { ErrorState, SkeletonRows } from "../ui/states.tsx";
import { toast, withToast } from "../ui/toasts.tsx";
import { RunCalls } from "./run-calls.tsx";
import { RunCopyTools } from "./run-copy-tools.tsx";
import { RunErrorBox } from "./run-error.tsx";
import { RunFacts } from "./run-facts.tsx";
import { RunStatusBadge } from "./run-status.tsx";
import { FailedStepButton, RunTimeline } from "./run-timeline.tsx";
import { RunWaiting } from "./run-waiting.tsx";
import { useLiveRun } from "./use-live-run.ts";

const WATCH_MS = 2_000;
/** How long to wait for a call that was in flight when its run was cancelled. It is recorded when the app responds. */
const LATE_CALLS_MS = 3_600_000;

export function RunPage() {
  const { env, id } = useParams({ from: "/env/$env/runs/$id" });
  const {
    data: run,
    error,
    refetch,
  } = useQuery({
    ...runQuery(env, id),
    refetchInterval: ({ state }) => (state.data && isSettled(state.data) ? false : WATCH_MS),
  });
  useLiveRun(env, id, run !== undefined && !ENDED_STATUSES.has(run.status));
  if (isUnavailable(error, run))
    return (
      <ErrorState
        error={error}
        title="This run could not be loaded"
        onRetry={() => void refetch()}
        lead={<LeadTo env={env} to="/env/$env/runs" list="Runs" />}
      />
    );
  if (!run) return <SkeletonRows />;
  return (
    <div className="page">
      <PageTitle text={`${run.function.name} ${run.status}`} />
      <Crumbs env={env} to="/env/$env/runs" list="Runs">
        <span className="mono">{run.id}</span>
      </Crumbs>
      <div className="page-head">
        <h1>{run.function.name}</h1>
        <RunStatusBadge status={run.status} />
        <RunActions env={env} run={run} />
      </div>
      <RunFacts env={env} run={run} />
      <RunWaiting env={env} run={run} />
      {run.error && <RunErrorBox error={run.error} title={failureTitle(run)} tools={<FailedStepButton run={run} />} />}
      <RunCopyTools env={env} run={run} />
      <RunTimeline env={env} run={run} />
      <RunCalls run={run} />
      <div className="cards">
        {run.event && <RunInput env={env} id={run.event.id} />}
        {run.output !== null && <Payload text={run.output} title="Output" />}
      </div>
    </div>
  );
}

function failureTitle({ status, rerun }: Run): string {
  if (status === "cancelled") return "The run was cancelled";
  return rerun ? "The run failed, and was rerun" : "The run failed";
}

/** Whether the run can no longer change. */
function isSettled({ status, endedAt, rerun }: Run): boolean {
  if (rerun && !ENDED_STATUSES.has(rerun.status)) return false;
  if (status === "cancelled" && endedAt !== null) return Date.now() - Date.parse(endedAt) > LATE_CALLS_MS;
  return ENDED_STATUSES.has(status);
}

function RunActions({ env, run }: { env: string; run: Run }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const mayRepair = useMayRepair();
  const [isCancelling, setCancelling] = useState(false);
  if (!mayRepair) return null;
  const refresh = () => reload(queries, runQuery(env, run.id).queryKey);
  const path = `/runs/${encodeURIComponent(run.id)}`;
  async function cancel() {
    await call(`${path}/cancel`, { method: "POST", env });
    toast("ok", "Run cancelled.");
    setCancelling(false);
    await refresh();
  }
  async function rerun() {
    const created = await withToast(call<RunItem>(`${path}/rerun`, { method: "POST", env }), "Rerun started.");
    if (created) await navigate({ to: "/env/$env/runs/$id", params: { env, id: created.id } });
  }
  return (
    <div className="actions">
      {!ENDED_STATUSES.has(run.status) && (
        <button type="button" className="button danger" onClick={() => setCancelling(true)}>
          <Icon name="slash" /> Cancel
        </button>
      )}
      {isCancelling && (
        <FormDialog title="Cancel this run?" submit="Cancel run" danger onClose={() => setCancelling(false)} onSubmit={cancel}>
          <p className="second">The run stops and cannot be continued; you can rerun it later, from the start or from a step.</p>
        </FormDialog>
      )}
      <button type="button" className="button" onClick={() => void rerun()}>
        <Icon name="refresh" /> Rerun
      </button>
      {run.event && <EditAndRerun env={env} id={run.event.id} />}
    </div>
  );
}

function RunInput({ env, id }: { env: string; id: string }) {
  const { data, error, refetch } = useQuery(eventQuery(env, id));
  if (isUnavailable(error, data)) return <ErrorState error={error} title="The event could not be loaded" onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={3} />;
  return <Payload text={data.data} title="Event data" tools={<SendToDevServer event={sentEvent(data, { withTs: false })} small />} />;
}

/** Sends a changed copy of the event: a new event, with new runs. */
function EditAndRerun({ env, id }: { env: string; id: string }) {
  const [open, setOpen] = useState(false);
  const { data } = useQuery(eventQuery(env, id));
  const maySend = useMaySend();
  if (!data || data.source.kind === "internal" || !maySend) return null;
  const event = sentEvent(data, { withId: false, withTs: false });
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <Icon name="edit" /> Edit event and rerun
      </button>
      {open && <SendEventDialog env={env} title="Edit event and rerun" event={event} onClose={() => setOpen(false)} />}
    </>
  );
}
