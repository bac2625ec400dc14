/** Functions: triggers and apps. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { functionsQuery } from "../api/queries.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { PausedBadge } from "./pause-function.tsx";
import { Triggers } from "./triggers.tsx";

export function FunctionsPage() {
  const { env } = useParams({ from: "/env/$env" });
  return (
    <div className="page">
      <div className="page-head">
        <h1>Functions</h1>
        <p>Your code that runs on events. Functions are registered when their app is synced.</p>
      </div>
      <FunctionList env={env} />
    </div>
  );
}

function FunctionList({ env }: { env: string }) {
  const { data, error, refetch } = useQuery({ ...functionsQuery(env), refetchInterval: 10_000 });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
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
    <Table columns={["Function", "Triggers", "App", "Updated"]} isStacked>
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
