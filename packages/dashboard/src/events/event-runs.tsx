/** The runs that an event started, resumed or cancelled. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type EventRelation, eventRunsQuery } from "../api/queries.ts";
import { ENDED_STATUSES, type EventItem, type RunItem } from "../api/types.ts";
import { RunStatusBadge } from "../runs/run-status.tsx";
import { Icon } from "../ui/icon.tsx";
import { messageOf } from "../ui/states.tsx";

const WATCH_MS = 2_000;
/** An event resumes and cancels runs shortly after it is accepted. */
const YOUNG_MS = 10_000;

export function EventRuns({ env, event }: { env: string; event: EventItem }) {
  return (
    <>
      <StartedRuns env={env} event={event} />
      <OtherRuns env={env} event={event} relation="resumed" title="Resumed runs" />
      <OtherRuns env={env} event={event} relation="cancelled" title="Cancelled runs" />
    </>
  );
}

function StartedRuns({ env, event }: { env: string; event: EventItem }) {
  const { data, error } = useEventRuns(env, event, "started");
  const { data: resumed } = useEventRuns(env, event, "resumed");
  return (
    <section className="stack tight" aria-label="Runs">
      <h3>Runs</h3>
      {error && <p className="quiet">Runs could not be loaded: {messageOf(error)}</p>}
      {!data && !error && <span className="skeleton" style={{ width: "40%" }} />}
      {data?.items.length === 0 && (
        <p className="quiet">
          This event started no run.
          {resumed?.items.length === 0 && " Check that a function subscribes to its name, and its conditions and limits."}
        </p>
      )}
      <RunLines env={env} runs={data?.items ?? []} />
      {data && data.next !== null && (
        <MoreRuns shown={data.items.length}>
          <Link to="/env/$env/runs" params={{ env }} search={{ event: event.id }}>
            Show all
          </Link>
        </MoreRuns>
      )}
    </section>
  );
}

/** Shown only if there are any. */
function OtherRuns({ env, event, relation, title }: { env: string; event: EventItem; relation: EventRelation; title: string }) {
  const { data } = useEventRuns(env, event, relation);
  if (!data || data.items.length === 0) return null;
  return (
    <section className="stack tight" aria-label={title}>
      <h3>{title}</h3>
      <RunLines env={env} runs={data.items} />
      {data.next !== null && <MoreRuns shown={data.items.length} />}
    </section>
  );
}

function MoreRuns({ shown, children }: { shown: number; children?: ReactNode }) {
  return (
    <p className="quiet small">
      These are the newest {shown}. There are more. {children}
    </p>
  );
}

function useEventRuns(env: string, { id, receivedAt }: EventItem, relation: EventRelation) {
  const isYoung = () => Date.now() - Date.parse(receivedAt) < YOUNG_MS;
  return useQuery({
    ...eventRunsQuery(env, id, relation),
    refetchInterval: ({ state }) => (isYoung() || state.data?.items.some(({ status }) => !ENDED_STATUSES.has(status)) ? WATCH_MS : false),
  });
}

function RunLines({ env, runs }: { env: string; runs: readonly RunItem[] }) {
  return (
    <ul className="run-list">
      {runs.map((run) => (
        <li key={run.id}>
          <Link to="/env/$env/runs/$id" params={{ env, id: run.id }} className="run-line">
            <RunStatusBadge status={run.status} />
            <span className="strong cut grow">{run.function.name}</span>
            <Icon name="chevronRight" size={14} className="quiet" />
          </Link>
        </li>
      ))}
    </ul>
  );
}
