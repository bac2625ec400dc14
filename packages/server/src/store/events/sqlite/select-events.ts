/** The SELECT of events in SQLite. */

import { EVENT_COLUMNS } from "../rows/event-rows.ts";

/** Events with their names and sources instead of interned ids. CROSS JOIN forces the planner to start at the events. */
export function selectEvents(index?: string): string {
  const indexed = index ? ` INDEXED BY ${index}` : "";
  return `SELECT ${EVENT_COLUMNS} FROM events${indexed} CROSS JOIN event_names USING (name_id) CROSS JOIN event_sources USING (source_no)`;
}
