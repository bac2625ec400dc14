/** Failed runs, grouped by function and the pattern of their error. One job reruns all runs of a group. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { callForAll } from "../api/client.ts";
import { useMayRepair } from "../api/session.ts";
import { JobDialog } from "../jobs/job-dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { count, plural } from "../ui/numbers.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";

interface FailureGroup {
  function: { id: string; name: string };
  /** Of the newest run; `pattern` has `*` for what differs between them. */
  error: { name: string; message: string; pattern: string };
  count: number;
  first: string;
  last: string;
  /** The newest of them. */
  runs: string[];
}

interface FailureGroupsProps {
  env: string;
  /** Runs created at or after this time. */
  from: number;
  /** Only of this function. */
  fn?: string;
}

const REFRESH_MS = 10_000;

export function FailureGroups({ env, from, fn }: FailureGroupsProps) {
  const { data, error, refetch } = useQuery({
    queryKey: ["failures", env, from, fn],
    queryFn: () => callForAll<FailureGroup>("/failures", { env, query: { limit: 100, from, function: fn } }),
    refetchInterval: REFRESH_MS,
    placeholderData: (before) => before,
  });
  if (error) return <ErrorState error={error} title="Failures could not be loaded" onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} />;
  if (data.length === 0) {
    return (
      <div className="card">
        <EmptyState icon="checkCircle" title="No run failed in this time range" />
      </div>
    );
  }
  return (
    <Table columns={["Error", "Function", { title: "Runs", isNumber: true }, "Since", "Last", ACTIONS]} isStacked>
      {data.map((group) => (
        <GroupRow key={`${group.function.id} ${group.error.pattern}`} env={env} from={from} group={group} />
      ))}
    </Table>
  );
}

/** The filter that selects the group in the list of runs, and in a job. */
function searchOf({ function: fn, error: { pattern } }: FailureGroup, from: number) {
  return { status: "failed", function: fn.id, errorPattern: pattern, from } as const;
}

function GroupRow({ env, from, group }: { env: string; from: number; group: FailureGroup }) {
  const [asking, setAsking] = useState(false);
  const mayRepair = useMayRepair();
  const search = searchOf(group, from);
  const isVaried = group.error.pattern !== `${group.error.name}: ${group.error.message}`;
  return (
    <tr>
      <td>
        <Link to="/env/$env/runs" params={{ env }} search={search} className="failure-text">
          {group.error.pattern}
        </Link>
        {isVaried && <div className="second failure-example">Latest: {group.error.message}</div>}
      </td>
      <td data-label="Function">
        <Link to="/env/$env/functions/$id" params={{ env, id: group.function.id }}>
          {group.function.name}
        </Link>
      </td>
      <td data-label="Runs" className="right num strong">
        {count(group.count)}
      </td>
      <td data-label="Since" className="second">
        <Time at={group.first} />
      </td>
      <td data-label="Last" className="second">
        <Link to="/env/$env/runs/$id" params={{ env, id: group.runs[0] ?? "" }}>
          <Time at={group.last} />
        </Link>
      </td>
      <td>
        {mayRepair && (
          <button type="button" className="button small" onClick={() => setAsking(true)}>
            <Icon name="refresh" size={14} /> Rerun {plural(group.count, "run")}
          </button>
        )}
        {asking && <JobDialog env={env} request={{ kind: "runs.rerun", filter: search }} onClose={() => setAsking(false)} />}
      </td>
    </tr>
  );
}
