/** Webhook events that named no existing branch. They are stored in the shared scope and run no functions. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { eventPage } from "../api/queries.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { SourceLabel } from "../events/source-label.tsx";
import { SHARED } from "../shell/environment-names.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";

const SHOWN = 8;

export function UnroutedEvents() {
  const { data, error, refetch } = useQuery({
    queryKey: ["events", SHARED, "unrouted"],
    queryFn: () => eventPage(SHARED, { source: "webhook" }),
    refetchInterval: 5_000,
  });
  return (
    <section className="card" aria-label="Events without a branch">
      <div className="card-head">
        <div className="grow">
          <h2>Events without a branch</h2>
          <p className="quiet small">Their requests named no branch, or one that does not exist or is archived.</p>
        </div>
        <Link to="/env/$env/events" params={{ env: SHARED }}>
          View all
        </Link>
      </div>
      {isUnavailable(error, data) ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <SkeletonRows rows={3} />
      ) : data.items.length === 0 ? (
        <EmptyState icon="branch" title="No events without a branch" />
      ) : (
        <ul>
          {data.items.slice(0, SHOWN).map((event) => (
            <li key={event.id}>
              <Link to="/env/$env/events/$id" params={{ env: SHARED, id: event.id }} className="run-line">
                <span className="quiet">
                  <Time at={event.receivedAt} />
                </span>
                <span className="strong cut grow">{event.name}</span>
                <span className="second cut">
                  <SourceLabel source={event.source} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
