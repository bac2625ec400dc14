/** Functions: triggers, apps, and the figures of the last 24 hours. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type FunctionFigures, functionFiguresQuery } from "../api/function-stats.ts";
import { functionsQuery } from "../api/queries.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { ExportList } from "../lists/export-list.tsx";
import { shortCount } from "../ui/numbers.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { duration, Time } from "../ui/time.tsx";
import { PausedBadge } from "./pause-function.tsx";
import { Triggers } from "./triggers.tsx";

const COLUMNS: (string | Column)[] = [
  ...["Function", "Triggers"],
  { title: "Runs, 24 h", isNumber: true },
  { title: "Failed", isNumber: true },
  { title: "Duration", isNumber: true },
  ...["App", "Updated"],
];

export function FunctionsPage() {
  const { env } = useParams({ from: "/env/$env" });
  return (
    <div className="page">
      <div className="page-head">
        <h1>Functions</h1>
        <div className="actions">
          <ExportList env={env} path="/functions" query={{}} name={`functions-${env}`} />
        </div>
        <p>Your code that runs on events. Functions are registered when their app is synced.</p>
      </div>
      <FunctionList env={env} />
    </div>
  );
}

function FunctionList({ env }: { env: string }) {
  const { data, error, refetch } = useQuery({ ...functionsQuery(env), refetchInterval: 10_000 });
  const ids = data?.map(({ id }) => id) ?? [];
  const { data: figures } = useQuery({ ...functionFiguresQuery(env, ids), enabled: ids.length > 0 });
  if (isUnavailable(error, data)) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows />;
  if (data.length === 0) {
    return (
      <div className="card">
        <EmptyState icon="function" title="No functions yet">
          <p>Serve functions from an app and sync it. A dev server discovers apps on the usual local ports.</p>
          <Link to="/env/$env/apps" params={{ env }} className="button">
            Go to apps
          </Link>
        </EmptyState>
      </div>
    );
  }
  return (
    <Table columns={COLUMNS} isStacked>
      {data.map((fn) => (
        <tr key={fn.id}>
          <td>
            <Link to="/env/$env/functions/$id" params={{ env, id: fn.id }} className="strong">
              {fn.name}
            </Link>
            <div className="quiet small mono">{fn.id}</div>
            <PausedBadge fn={fn} />
          </td>
          <td data-label="Triggers">
            <Triggers env={env} triggers={fn.triggers} />
          </td>
          <FigureCells figures={figures?.get(fn.id)} />
          <td data-label="App" className="second">
            {fn.app}
          </td>
          <td data-label="Updated" className="second">
            <Time at={fn.updatedAt} relative />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function FigureCells({ figures }: { figures: FunctionFigures | undefined }) {
  const { created = 0, completed = 0, failed = 0, durationMs = null } = figures ?? {};
  const ended = completed + failed;
  return (
    <>
      <td data-label="Runs, 24 h" className="right num second">
        {figures && shortCount(created)}
      </td>
      <td data-label="Failed" className={`right num ${failed > 0 ? "bad-text" : "second"}`}>
        {figures && (ended === 0 ? "–" : `${((failed / ended) * 100).toFixed(1)} %`)}
      </td>
      <td data-label="Duration" className="right num second" title={durationMs ? `95th percentile ${duration(durationMs.p95)}` : undefined}>
        {figures && (durationMs ? duration(durationMs.p50) : "–")}
      </td>
    </>
  );
}
