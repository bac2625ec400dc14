/** One function: triggers, configuration, recent runs. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { functionsQuery, runsQuery } from "../api/queries.ts";
import type { FunctionItem } from "../api/types.ts";
import { RunTable } from "../runs/run-table.tsx";
import { Crumbs } from "../ui/crumbs.tsx";
import { Payload } from "../ui/payload.tsx";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { Triggers } from "./triggers.tsx";

export function FunctionPage() {
  const { env, id } = useParams({ from: "/env/$env/functions/$id" });
  const { data, error, refetch } = useQuery(functionsQuery(env));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows />;
  const fn = data.find((one) => one.id === id);
  if (!fn) return <EmptyState icon="function" title={`Function ${id} not found in ${env}`} />;
  return (
    <div className="page">
      <Crumbs env={env} to="/env/$env/functions" list="Functions">
        {fn.name}
      </Crumbs>
      <div className="page-head">
        <h1>{fn.name}</h1>
      </div>
      <div className="cards">
        <Facts env={env} fn={fn} />
        <Payload text={JSON.stringify(fn.config)} title="Configuration" />
      </div>
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
      ) : runs.isError ? (
        <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />
      ) : (
        <RunTable env={env} runs={items} />
      )}
    </section>
  );
}
