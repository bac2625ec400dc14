/** A short table of runs, for other pages. */

import { Link } from "@tanstack/react-router";
import type { RunItem } from "../api/types.ts";
import { EmptyState } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { RunDuration } from "./run-duration.tsx";
import { RunStatusBadge } from "./run-status.tsx";

export function RunTable({ env, runs }: { env: string; runs: readonly RunItem[] }) {
  if (runs.length === 0) {
    return (
      <div className="card">
        <EmptyState icon="activity" title="No runs yet" />
      </div>
    );
  }
  return (
    <ul className="run-list">
      {runs.map((run) => (
        <li key={run.id}>
          <Link to="/env/$env/runs/$id" params={{ env, id: run.id }} className="run-line">
            <RunStatusBadge status={run.status} />
            <span className="strong cut">{run.function.name}</span>
            <span className="quiet cut grow">{startOf(run)}</span>
            <span className="second num wide-only">
              <RunDuration run={run} />
            </span>
            <span className="quiet">
              <Time at={run.createdAt} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

export function startOf(run: RunItem): string {
  return run.cron ? `cron ${run.cron}` : (run.event?.name ?? "");
}
