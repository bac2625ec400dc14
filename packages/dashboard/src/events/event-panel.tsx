/** One event: metadata, source, started runs and payload. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import { archivedEventQuery } from "../api/archived-events.ts";
import { eventQuery } from "../api/queries.ts";
import { sentEvent } from "../api/read-items.ts";
import type { EventItem } from "../api/types.ts";
import { isUnavailable } from "../api/unavailable.ts";
import { environmentTitle } from "../shell/environment-names.ts";
import { EnvironmentDot } from "../shell/environment-switcher.tsx";
import { PageTitle } from "../shell/page-title.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Fact } from "../ui/fact.tsx";
import { Icon } from "../ui/icon.tsx";
import { Payload } from "../ui/payload.tsx";
import { ErrorState, Notice, SkeletonRows } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { isTyping } from "../ui/typing.ts";
import { EventActions } from "./event-actions.tsx";
import { EventRuns } from "./event-runs.tsx";
import type { EventSearch } from "./event-search.ts";
import { SourceLabel } from "./source-label.tsx";

export function EventPanel() {
  const { env, id } = useParams({ from: "/env/$env/events/$id" });
  const { archived = false } = useSearch({ from: "/env/$env/events" });
  const stored = useQuery({ ...eventQuery(env, id), enabled: !archived });
  const fromArchive = useQuery({ ...archivedEventQuery(env, id), enabled: archived });
  const { data: event, error, refetch } = archived ? fromArchive : stored;
  const navigate = useNavigate();
  useEffect(() => {
    const onKey = (pressed: KeyboardEvent) => {
      if (pressed.key !== "Escape" || isTyping(pressed) || document.querySelector("dialog[open]")) return;
      void navigate({ to: "/env/$env/events", params: { env }, search: (before: object) => before });
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [navigate, env]);
  return (
    <aside className="event-panel" aria-label="Event">
      <div className="panel-bar">
        <Link
          to="/env/$env/events"
          params={{ env }}
          search={(before: object) => before}
          className="button bare icon"
          aria-label="Close"
          title="Close"
        >
          <Icon name="x" />
        </Link>
        <span className="grow" />
        {event && <EventActions key={event.id} env={env} event={event} />}
      </div>
      {isUnavailable(error, event) ? (
        <ErrorState error={error} title="This event could not be loaded" onRetry={() => void refetch()} />
      ) : event ? (
        <Details env={env} event={event} archived={archived} />
      ) : (
        <SkeletonRows rows={6} />
      )}
    </aside>
  );
}

interface DetailsProps {
  env: string;
  event: EventItem;
  archived: boolean;
}

function Details({ env, event, archived }: DetailsProps) {
  return (
    <div className="panel-body">
      <PageTitle text={event.name} />
      <h2 className="event-title">
        {event.name}
        <FilterLink
          env={env}
          id={event.id}
          search={{ name: event.name, ...(archived && { archived }) }}
          label={`Only events named ${event.name}`}
        />
      </h2>
      {event.schemaFaults.length > 0 && <SchemaFaults env={env} event={event} />}
      <EventFacts env={env} event={event} archived={archived} />
      {archived ? (
        <p className="quiet">This event is in the archive. Runs and steps that were archived are in its files, too.</p>
      ) : (
        <EventRuns env={env} event={event} />
      )}
      <Payload text={event.data} title="Data" />
      {event.extras.size > 0 && <Payload text={sentEvent(event)} title="Event as sent" />}
    </div>
  );
}

function EventFacts({ env, event, archived }: DetailsProps) {
  return (
    <dl className="facts">
      <Fact label="Event ID" className="row">
        <code>{event.id}</code>
        <CopyButton text={event.id} label="Copy Event ID" />
      </Fact>
      <Fact label="Received">
        <Time at={event.receivedAt} full />
      </Fact>
      {event.ts !== Date.parse(event.receivedAt) && (
        <Fact label="Timestamp (ts)" hint="Time set by the sender">
          <Time at={event.ts} full />
        </Fact>
      )}
      <dt>Environment</dt>
      <dd className="row" style={{ gap: 6 }}>
        <EnvironmentDot name={event.environment} /> {environmentTitle(event.environment)}
      </dd>
      <SourceFacts env={env} event={event} archived={archived} />
      {event.dedupId !== null && (
        <Fact label="Dedup id" className="row">
          <code>{event.dedupId}</code>
          <CopyButton text={event.dedupId} label="Copy dedup id" />
        </Fact>
      )}
      {(event.dedupId !== null || event.duplicates > 0) && (
        <Fact label="Duplicates">{event.duplicates === 0 ? "None" : `${event.duplicates} ignored`}</Fact>
      )}
    </dl>
  );
}

function SourceFacts({ env, event, archived }: DetailsProps) {
  const { source } = event;
  return (
    <>
      <Fact label="Source" className="row">
        <SourceLink env={env} event={event} />
        {!archived && <FilterLink env={env} id={event.id} search={{ source: source.id }} label={`Only events from ${source.name}`} />}
      </Fact>
      {event.isReconciled && <Fact label="Reconciled">Found in what the provider lists; no request brought it.</Fact>}
      {source.run && (
        <Fact label="Source run">
          <Link to="/env/$env/runs/$id" params={{ env, id: source.run }} className="mono">
            {source.run}
          </Link>
        </Fact>
      )}
    </>
  );
}

function SchemaFaults({ env, event: { name, schemaFaults } }: { env: string; event: EventItem }) {
  return (
    <Notice kind="warn" icon="alert">
      This event breaks the{" "}
      <Link to="/env/$env/event-types/$name" params={{ env, name }}>
        schema of {name}
      </Link>
      :
      <ul>
        {schemaFaults.map(({ path = "", message }) => (
          <li key={`${path} ${message}`}>
            <code>data{path}</code> {message}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

/** Filters the list to events like this one. */
function FilterLink({ env, id, search, label }: { env: string; id: string; search: EventSearch; label: string }) {
  return (
    <Link
      to="/env/$env/events/$id"
      params={{ env, id }}
      search={search}
      className="button bare small icon"
      aria-label={label}
      title={label}
    >
      <Icon name="filter" size={14} />
    </Link>
  );
}

function SourceLink({ env, event: { source } }: { env: string; event: EventItem }) {
  if (source.kind !== "webhook") return <SourceLabel source={source} />;
  return (
    <Link to="/env/$env/webhooks/$id" params={{ env, id: source.id }}>
      <SourceLabel source={source} />
    </Link>
  );
}
