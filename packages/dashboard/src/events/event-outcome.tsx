/** The outcome of an event: how many of its runs completed, failed, or are unfinished. */

import { useQuery } from "@tanstack/react-query";
import { runCountsQuery } from "../api/run-counts.ts";
import { type EventItem, RUN_STATUSES, type RunCounts } from "../api/types.ts";
import { STATUS_BADGES, statusWord } from "../runs/run-status.tsx";
import { Icon } from "../ui/icon.tsx";

export function EventOutcome({ env, event: { id, receivedAt } }: { env: string; event: EventItem }) {
  const { data } = useQuery(runCountsQuery(env, id, receivedAt));
  if (!data) return <span className="event-outcome" />;
  const counts = RUN_STATUSES.filter((status) => data[status]);
  if (counts.length === 0) return <span className="event-outcome quiet small">no runs</span>;
  return (
    <span className="event-outcome" title={`Runs: ${outcomeText(data)}`}>
      <span className="visually-hidden">Runs: {outcomeText(data)}</span>
      {counts.map((status) => (
        <span key={status} className={`badge outcome ${STATUS_BADGES[status].kind}`} aria-hidden="true">
          <Icon name={STATUS_BADGES[status].icon} size={13} />
          {data[status] === 1 ? "" : data[status]}
        </span>
      ))}
    </span>
  );
}

function outcomeText(counts: RunCounts): string {
  return RUN_STATUSES.filter((status) => counts[status])
    .map((status) => `${counts[status]} ${statusWord(status).toLowerCase()}`)
    .join(", ");
}
