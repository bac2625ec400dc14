/** One function: figures over time, actions, triggers, configuration, recent runs. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { functionsQuery, runsQuery } from "../api/queries.ts";
import type { FunctionItem } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { SpanButtons } from "../lists/span-buttons.tsx";
import { DEFAULT_SPAN, SPANS, type SpanName } from "../lists/span-search.ts";
import { FailureGroups } from "../runs/failure-groups.tsx";
import { RunTable } from "../runs/run-table.tsx";
import { PageTitle } from "../shell/page-title.tsx";
import { Crumbs, LeadTo } from "../ui/crumbs.tsx";
import { Payload } from "../ui/payload.tsx";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time, useNow } from "../ui/time.tsx";
import { FunctionActions } from "./function-actions.tsx";
import { FunctionCharts } from "./function-charts.tsx";
import { FunctionHolds } from "./function-holds.tsx";
import { LimitButton, LimitedNotice } from "./limit-function.tsx";
import { PauseButton, PausedNotice } from "./pause-function.tsx";
import { Triggers } from "./triggers.tsx";

const MINUTE_MS = 60_000;

export function FunctionPage() {
  const { env, id } = useParams({ from: "/env/$env/functions/$id" });
  const { span = DEFAULT_SPAN } = useSearch({ from: "/env/$env/functions/$id" });
  const from = Math.floor(useNow(MINUTE_MS) / MINUTE_MS) * MINUTE_MS - SPANS[span];
  const navigate = useNavigate();
  const setSpan = (next: SpanName) =>
    void navigate({ to: "/env/$env/functions/$id", params: { env, id }, search: { span: next }, replace: true });
  const { data, error, refetch } = useQuery({ ...functionsQuery(env), refetchInterval: 5_000 });
  if (isUnavailable(error, data)) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows />;
  const fn = data.find((one) => one.id === id);
  if (!fn)
    return (
      <EmptyState icon="function" title={`There is no function "${id}" in ${env}`} isPage>
        <LeadTo env={env} to="/env/$env/functions" list="Functions" />
      </EmptyState>
    );
  return (
    <div className="page">
      <PageTitle text={fn.name} />
      <Crumbs env={env} to="/env/$env/functions" list="Functions">
        {fn.name}
      </Crumbs>
      <div className="page-head">
        <h1>{fn.name}</h1>
        <div className="actions">
          <SpanButtons span={span} onChange={setSpan} />
          <FunctionActions env={env} fn={fn} />
          <LimitButton env={env} fn={fn} />
          <PauseButton env={env} fn={fn} />
        </div>
      </div>
      <PausedNotice fn={fn} />
      <LimitedNotice fn={fn} />
      <FunctionHolds env={env} fn={fn} />
      <FunctionCharts env={env} id={fn.id} span={span} />
      <div className="cards">
        <Facts env={env} fn={fn} />
        <Payload text={JSON.stringify(fn.config)} title="Configuration" />
      </div>
      <section className="stack" aria-label="Failures">
        <h2>Failures</h2>
        <FailureGroups env={env} filter={{ from, function: fn.id, state: "open" }} />
      </section>
      <RecentRuns env={env} id={fn.id} />
    </div>
  );
}

function Facts({ env, fn }: { env: string; fn: FunctionItem }) {
  return (
    <section className="card card-body" aria-label="Function details">
      <dl className="facts">
        <dt>Function ID</dt>
        <dd>
          <code>{fn.id}</code>
        </dd>
        <dt>Triggers</dt>
        <dd>
          <Triggers env={env} triggers={fn.triggers} />
        </dd>
        <dt>App</dt>
        <dd>
          <Link to="/env/$env/apps" params={{ env }}>
            {fn.app}
          </Link>
        </dd>
        <dt>URL</dt>
        <dd>
          <code>{fn.url}</code>
        </dd>
        <dt>Updated</dt>
        <dd>
          <Time at={fn.updatedAt} />
        </dd>
      </dl>
    </section>
  );
}

function RecentRuns({ env, id }: { env: string; id: string }) {
  const runs = useInfiniteQuery({ ...runsQuery(env, { function: id }), refetchInterval: 5_000 });
  const items = runs.data?.pages[0]?.items.slice(0, 10) ?? [];
  return (
    <section className="stack" aria-label="Recent runs">
      <div className="row">
        <h2 className="grow">Recent runs</h2>
        <Link to="/env/$env/runs" params={{ env }} search={{ function: id }}>
          All runs
        </Link>
      </div>
      {runs.isPending ? (
        <SkeletonRows rows={4} />
      ) : isUnavailable(runs.error, runs.data) ? (
        <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />
      ) : (
        <RunTable env={env} runs={items} />
      )}
    </section>
  );
}
