/** One row per event: time, name, outcome of its runs, source and the start of its payload. */

import { Link } from "@tanstack/react-router";
import { memo, type RefObject } from "react";
import type { EventItem } from "../api/types.ts";
import { ListColumns } from "../lists/list-columns.tsx";
import { Time } from "../ui/time.tsx";
import { VirtualList } from "../ui/virtual-list.tsx";
import { EventOutcome } from "./event-outcome.tsx";
import { SourceLabel } from "./source-label.tsx";

const PREVIEW_UNITS = 220;
const NARROW_PX = 620;
const COLUMNS = ["Received", "Event", "Runs", "Source", "Data"];
const ARCHIVED_COLUMNS = COLUMNS.map((title) => (title === "Runs" ? "" : title));

interface EventRowsProps {
  env: string;
  events: readonly EventItem[];
  selected: string | undefined;
  /** Their runs may have left the store as well. */
  archived: boolean;
  width: number;
  scroller: RefObject<HTMLDivElement | null>;
  onEnd?: (() => void) | undefined;
  foot?: React.ReactNode;
}

export function EventRows({ env, events, selected, archived, width, scroller, onEnd, foot }: EventRowsProps) {
  const narrow = width < NARROW_PX;
  return (
    <>
      {!narrow && events.length > 0 && <ListColumns className="event-row" titles={archived ? ARCHIVED_COLUMNS : COLUMNS} />}
      <VirtualList
        items={events}
        rowHeight={narrow ? 58 : 40}
        idOf={({ id }) => id}
        label="Events"
        scroller={scroller}
        onEnd={onEnd}
        foot={foot}
        row={(event) => <EventRow env={env} event={event} isSelected={event.id === selected} archived={archived} narrow={narrow} />}
      />
    </>
  );
}

interface EventRowProps {
  env: string;
  event: EventItem;
  isSelected: boolean;
  archived: boolean;
  narrow: boolean;
}

/** Is rendered again only when its event changes, not with every scroll and every new event. */
const EventRow = memo(function EventRow({ env, event, isSelected, archived, narrow }: EventRowProps) {
  return (
    <Link
      to="/env/$env/events/$id"
      params={{ env, id: event.id }}
      search={(before: object) => before}
      className={`event-row${narrow ? " narrow" : ""}${isSelected ? " selected" : ""}`}
    >
      <span className="event-time quiet">
        <Time at={event.receivedAt} />
      </span>
      <span className="event-name">
        <span className="cut">{event.name}</span>
        {event.schemaFaults.length > 0 && (
          <span className="badge plain bad" title={`Breaks the schema of ${event.name}`}>
            schema
          </span>
        )}
        {event.duplicates > 0 && (
          <span className="badge plain warn" title={`${event.duplicates} duplicates of this event were ignored`}>
            +{event.duplicates} dup
          </span>
        )}
      </span>
      {archived ? <span className="event-outcome" /> : <EventOutcome env={env} event={event} />}
      <span className="event-source second cut">
        <SourceLabel source={event.source} />
      </span>
      <span className="event-preview quiet cut mono">{event.data.slice(0, PREVIEW_UNITS)}</span>
    </Link>
  );
});
