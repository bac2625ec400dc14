/** Events: the live list with filters and chart, next to the selected event. */

import { Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useRef, useState } from "react";
import type { Filters } from "../api/queries.ts";
import { useMayErase } from "../api/session.ts";
import { EraseDialog } from "../jobs/erase-dialog.tsx";
import { type JobChoice, JobMenu } from "../jobs/job-menu.tsx";
import { ReplayDialog } from "../jobs/replay-dialog.tsx";
import { ExportList } from "../lists/export-list.tsx";
import { useKeptPosition } from "../lists/kept-position.ts";
import { SavedFilters } from "../lists/saved-filters.tsx";
import { withoutRange } from "../lists/time-range.ts";
import { useListFilters } from "../lists/use-list-filters.ts";
import { SHARED } from "../shell/environment-names.ts";
import { Icon } from "../ui/icon.tsx";
import { loadPart } from "../ui/load-part.ts";
import { count, plural } from "../ui/numbers.ts";
import { EmptyState, ErrorState, SkeletonRows } from "../ui/states.tsx";
import { useWidth } from "../ui/use-width.ts";
import { EventFilters } from "./event-filters.tsx";
import { EventRows } from "./event-rows.tsx";
import { type EventSearch, filtersOf, isFiltered } from "./event-search.ts";
import { TAIL_MAX } from "./event-tail.ts";
import { FirstEvent } from "./first-event.tsx";
import { LiveButton } from "./live-button.tsx";
import { SendEventButton } from "./send-event.tsx";
import { useEventList } from "./use-event-list.ts";

const EventsChart = lazy(() => loadPart(() => import("./events-chart.tsx")).then(({ EventsChart: component }) => ({ default: component })));

const SCROLLED_PX = 60;
const CHOICES: readonly JobChoice[] = [{ kind: "events.replay", label: "Replay all events of this list", icon: "refresh" }];
const ERASE: JobChoice = { kind: "events.erase", label: "Erase all events of this list", icon: "trash" };
/** Filters that the list sets by itself. */
const OWN_FILTERS: ReadonlySet<string> = new Set(["internal"]);

export function EventsPage() {
  const { env } = useParams({ from: "/env/$env" });
  const { id: selected } = useParams({ strict: false });
  const search = useSearch({ from: "/env/$env/events" });
  const navigate = useNavigate();
  const [paused, setPaused] = useState(false);
  const [scrolled, setScrolled] = useState(false);
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const filters = useListFilters(env, search, filtersOf);
  const isHeld = paused || scrolled;
  const list = useEventList(env, filters, isHeld);
  useKeptPosition(scroller, { path: "/env/$env/events", env, search, isReady: list.events.length > 0 });
  const setSearch = (next: EventSearch) =>
    void navigate({
      to: selected ? "/env/$env/events/$id" : "/env/$env/events",
      params: { env, id: selected ?? "" },
      search: next,
      replace: true,
    });

  return (
    <div className={`page full events-page${selected ? " with-panel" : ""}`}>
      <div className="list-side">
        <div className="list-head">
          <div className="page-head">
            <h1>Events</h1>
            {!search.archived && <LiveButton state={list.live} paused={paused} onPause={setPaused} />}
            <ListActions env={env} search={search} filters={filters} onSearch={setSearch} />
          </div>
          {env === SHARED && <p className="quiet">Webhook events that named no existing branch. No functions run for them.</p>}
          <EventFilters env={env} search={search} onChange={setSearch} />
          {search.archived && (
            <p className="quiet small">Events whose retention time has passed, from the archive. The newest come first.</p>
          )}
        </div>
        {!search.archived && (
          <Suspense fallback={<div className="events-chart" />}>
            <EventsChart env={env} search={search} onRange={(from, to) => setSearch({ ...withoutRange(search), from, to })} />
          </Suspense>
        )}
        <div
          className="list-scroll"
          data-held={isHeld}
          ref={scroller}
          onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop > SCROLLED_PX)}
        >
          {list.waiting > 0 && (
            <NewEvents
              waiting={list.waiting}
              onShow={() => {
                list.showWaiting();
                scroller.current?.scrollTo({ top: 0 });
              }}
            />
          )}
          <ListBody env={env} search={search} selected={selected} width={width} scroller={scroller} list={list} />
        </div>
      </div>
      <Outlet />
    </div>
  );
}

interface ListActionsProps {
  env: string;
  search: EventSearch;
  /** Of what the list shows. */
  filters: Filters;
  onSearch: (search: EventSearch) => void;
}

function ListActions({ env, search, filters, onSearch }: ListActionsProps) {
  // Nobody erases everything: a filter says what.
  const mayErase = useMayErase() && Object.entries(filters).some(([name, value]) => value && !OWN_FILTERS.has(name));
  return (
    <div className="actions">
      {!search.archived && (
        <JobMenu
          env={env}
          filter={filters}
          choices={mayErase ? [...CHOICES, ERASE] : CHOICES}
          dialog={(request, close) =>
            request.kind === "events.erase" ? (
              <EraseDialog env={env} request={request} onClose={close} />
            ) : (
              <ReplayDialog env={env} request={request} onClose={close} />
            )
          }
        />
      )}
      <ExportList env={env} path="/events" query={filters} name={`events-${env}`} />
      <SavedFilters env={env} page="events" search={search} onChoose={onSearch} />
      {env !== SHARED && <SendEventButton env={env} />}
    </div>
  );
}

function NewEvents({ waiting, onShow }: { waiting: number; onShow: () => void }) {
  return (
    <button type="button" className="new-pill" onClick={onShow}>
      <Icon name="plus" size={14} /> {Number.isFinite(waiting) ? plural(waiting, "new event") : `Over ${count(TAIL_MAX)} new events`}
    </button>
  );
}

interface ListBodyProps {
  env: string;
  search: EventSearch;
  selected: string | undefined;
  width: number;
  scroller: React.RefObject<HTMLDivElement | null>;
  list: ReturnType<typeof useEventList>;
}

function ListBody({ env, search, selected, width, scroller, list: { pages, events } }: ListBodyProps) {
  if (pages.isPending) return <SkeletonRows rows={14} height={40} />;
  if (pages.isError && events.length === 0) return <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />;
  if (events.length === 0 && !pages.hasNextPage) {
    if (search.archived) return <NoArchivedEvent search={search} />;
    if (!isFiltered(search)) return <FirstEvent env={env} />;
    return (
      <EmptyState icon="search" title="No event matches these filters">
        <p>Names match exactly unless they end in *. Text search ignores case.</p>
      </EmptyState>
    );
  }
  return (
    <EventRows
      env={env}
      events={events}
      selected={selected}
      archived={search.archived === true}
      width={width}
      scroller={scroller}
      onEnd={pages.hasNextPage && !pages.isFetchingNextPage && !pages.isError ? () => void pages.fetchNextPage() : undefined}
      foot={
        pages.isError ? (
          <ErrorState error={pages.error} title="More events could not be loaded" onRetry={() => void pages.fetchNextPage()} />
        ) : (
          <p className="list-foot quiet small">{pages.hasNextPage ? "Loading more…" : `${plural(events.length, "event")} in total`}</p>
        )
      }
    />
  );
}

function NoArchivedEvent({ search: { archived: _, ...filters } }: { search: EventSearch }) {
  if (isFiltered(filters))
    return (
      <EmptyState icon="search" title="No archived event matches these filters">
        <p>Names match exactly unless they end in *.</p>
      </EmptyState>
    );
  return (
    <EmptyState icon="layers" title="The archive has no events of this environment">
      <p>Events are archived when every retention time has passed for their day.</p>
    </EmptyState>
  );
}
