/** Failed runs, grouped by function and the pattern of their error. One job reruns all runs of a group that were not rerun yet. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FailureFilter, type FailureGroup, failuresQuery } from "../api/failures.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { count } from "../ui/numbers.ts";
import { Sparkline } from "../ui/sparkline.tsx";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { ACTIONS, Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { FailureActions } from "./failure-actions.tsx";

const EMPTY = {
  open: "No open failures in this time range",
  resolved: "No resolved failures in this time range",
  ignored: "No ignored failures in this time range",
};

export function FailureGroups({ env, filter }: { env: string; filter: FailureFilter }) {
  const { data, error, refetch } = useQuery(failuresQuery(env, filter));
  if (isUnavailable(error, data)) return <ErrorState error={error} title="Failures could not be loaded" onRetry={() => void refetch()} />;
  if (!data) return <SkeletonRows rows={4} />;
  if (data.length === 0) {
    return (
      <div className="card">
        <EmptyState icon="checkCircle" title={filter.state ? EMPTY[filter.state] : "No run failed in this time range"} />
      </div>
    );
  }
  return (
    <Table columns={["Error", "Function", "Trend", { title: "Runs", isNumber: true }, "Since", "Last", ACTIONS]} isStacked>
      {data.map((group) => (
        <GroupRow key={`${group.function.id} ${group.error.pattern}`} env={env} from={filter.from} group={group} />
      ))}
    </Table>
  );
}

function GroupRow({ env, from, group }: { env: string; from: number; group: FailureGroup }) {
  const { error, function: fn, decided, state } = group;
  const isVaried = error.pattern !== `${error.name}: ${error.message}`;
  const search = { status: "failed", function: fn.id, errorPattern: error.pattern, from } as const;
  return (
    <tr>
      <td>
        <Link to="/env/$env/runs" params={{ env }} search={search} className="failure-text">
          {error.pattern}
        </Link>
        {isVaried && <div className="second failure-example">Latest: {error.message}</div>}
        {decided && decided.state === state && (
          <div className="quiet small">
            {state === "resolved" ? "Resolved" : "Ignored"} by {decided.by}, <Time at={decided.at} relative />
          </div>
        )}
      </td>
      <td data-label="Function">
        <Link to="/env/$env/functions/$id" params={{ env, id: fn.id }}>
          {fn.name}
        </Link>
      </td>
      <td data-label="Trend">
        <Sparkline values={group.trend} label={`${group.count + group.rerun} failed runs over the time range`} />
      </td>
      <td data-label="Runs" className="right num">
        <span>
          <span className="strong">{count(group.count)}</span>
          {group.rerun > 0 && <span className="quiet small failure-rerun"> {count(group.rerun)} rerun</span>}
        </span>
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
        <FailureActions env={env} group={group} search={{ ...search, rerun: "false" }} />
      </td>
    </tr>
  );
}
