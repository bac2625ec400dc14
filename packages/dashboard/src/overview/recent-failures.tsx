/** The most recent failed runs that were not rerun since. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { runPage } from "../api/queries.ts";
import { RunTable } from "../runs/run-table.tsx";

const SHOWN = 5;

export function RecentFailures({ env }: { env: string }) {
  const { data } = useQuery({
    queryKey: ["runs", env, "failed", "recent"],
    queryFn: () => runPage(env, { status: "failed", rerun: "false", limit: SHOWN }),
    refetchInterval: 10_000,
    retry: false,
  });
  if (!data || data.items.length === 0) return null;
  return (
    <section className="stack" aria-label="Latest failures">
      <div className="row">
        <h2 className="grow">Latest failures</h2>
        <Link to="/env/$env/failures" params={{ env }}>
          Failures by error
        </Link>
        <Link to="/env/$env/runs" params={{ env }} search={{ status: "failed" }}>
          All failed runs
        </Link>
      </div>
      <RunTable env={env} runs={data.items} />
    </section>
  );
}
