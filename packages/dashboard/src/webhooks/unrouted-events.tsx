/** Events that reached no branch: the request named none, or one that does not exist. They are kept here and run nothing. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { eventPage } from "../api/queries.ts";
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
    <section className="card" aria-label="Events that reached no branch">
      <div className="card-head">
        <div className="grow">
          <h2>Events that reached no branch</h2>
          <p className="quiet small">Their request named no branch, or one that does not exist or is archived.</p>
        </div>
        <Link to="/env/$env/events" params={{ env: SHARED }}>
          All of them
        </Link>
      </div>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <SkeletonRows rows={3} />
      ) : data.items.length === 0 ? (
        <EmptyState icon="branch" title="None: every request found its branch" />
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
