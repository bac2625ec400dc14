/** Event types: names, volume and subscribed functions. */

import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ALL_ITEMS_MAX } from "../api/client.ts";
import { eventTypesQuery } from "../api/queries.ts";
import type { EventType } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { FirstEvent } from "../events/first-event.tsx";
import { ExportList } from "../lists/export-list.tsx";
import { count, shortCount } from "../ui/numbers.ts";
import { Sparkline } from "../ui/sparkline.tsx";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { Time } from "../ui/time.tsx";
import { Subscribers } from "./subscribers.tsx";

export function EventTypesPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { data, error, refetch } = useQuery({ ...eventTypesQuery(env), refetchInterval: 10_000 });
  const [only, setOnly] = useState<"all" | "unsubscribed">("all");
  return (
    <div className="page">
      <div className="page-head">
        <h1>Event types</h1>
        {data && data.length > 0 && (
          <div className="segments">
            <button type="button" className="segment" aria-pressed={only === "all"} onClick={() => setOnly("all")}>
              {data.length < ALL_ITEMS_MAX ? "All" : "Newest"} {data.length}
            </button>
            <button type="button" className="segment" aria-pressed={only === "unsubscribed"} onClick={() => setOnly("unsubscribed")}>
              {data.filter(hasNoSubscriber).length} without a subscriber
            </button>
          </div>
        )}
        <div className="actions">
          <ExportList env={env} path="/event-types" query={{}} name={`event-types-${env}`} />
        </div>
        <p>All event names received or declared, with their volume and subscribed functions.</p>
      </div>
      {isUnavailable(error, data) ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <SkeletonRows />
      ) : data.length === 0 ? (
        <div className="card">
          <FirstEvent env={env} />
        </div>
      ) : (
        <TypeTable env={env} types={byVolume(only === "all" ? data : data.filter(hasNoSubscriber))} />
      )}
    </div>
  );
}

function byVolume(types: readonly EventType[]): EventType[] {
  return types.toSorted((a, b) => b.count24h - a.count24h || b.count - a.count || a.name.localeCompare(b.name));
}

function hasNoSubscriber({ functions }: EventType): boolean {
  return functions.length === 0;
}

function TypeTable({ env, types }: { env: string; types: EventType[] }) {
  if (types.length === 0) return <EmptyState icon="checkCircle" title="Every event type has a subscriber" />;
  return (
    <Table columns={["Name", "Last 24 hours", { title: "Total", isNumber: true }, "Subscribers", "Last seen"]} isStacked>
      {types.map((type) => (
        <tr key={type.name}>
          <td>
            <Link to="/env/$env/event-types/$name" params={{ env, name: type.name }} className="strong">
              {type.name}
            </Link>
          </td>
          <td data-label="Last 24 hours">
            <span className="row">
              <Sparkline values={type.hours} label={`Events per hour, at most ${count(Math.max(...type.hours))}`} />
              <span className="num second" title={count(type.count24h)}>
                {shortCount(type.count24h)}
              </span>
            </span>
          </td>
          <td data-label="Total" className="right num second" title={count(type.count)}>
            {shortCount(type.count)}
          </td>
          <td data-label="Subscribers">
            <Subscribers env={env} functions={type.functions} />
          </td>
          <td data-label="Last seen" className="second">
            <Time at={type.lastSeenAt} relative />
          </td>
        </tr>
      ))}
    </Table>
  );
}
