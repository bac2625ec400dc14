/**
 * Archived events of an environment, newest first, by name and time. Files are read day by day and row group by row group, those of other
 * times not at all; where a name is asked for, only groups that have it are read whole. A page takes a bounded time: it may be short or
 * empty, and says where to continue.
 */

import { DAY_MS, type EventId } from "@inlet/protocol";
import type { Environment, EventCursor, EventListParams, EventPage, StoredEvent } from "../store/contract/index.ts";
import { bytesOfEvent, type EventRow, toStoredEvent } from "../store/events/rows/event-rows.ts";
import { PAGE_BYTES_MAX } from "../store/shared/byte-bounds.ts";
import { dayOfFile, tablePrefix } from "./file-names.ts";
import { type ArchiveStorage, type FileGroup, groupsOf, mayHold } from "./files/read-file.ts";
import type { ArchiveTarget } from "./targets/archive-target.ts";

export interface ArchivedListParams extends Pick<EventListParams, "name" | "from" | "to" | "after" | "limit"> {
  /** Of these, only the one with this id. */
  id?: EventId;
  /** What else an event has to fulfil. */
  filters?: readonly ((event: StoredEvent) => boolean)[];
}

const PAGE_MS_MAX = 2_000;
const FIRST_COLUMNS = ["event_id", "name", "received_at", "sequence"] as const;

type Reached = Pick<EventRow, "event_id" | "name" | "received_at" | "sequence">;

export async function listArchivedEvents(
  { target, decoder }: ArchiveStorage,
  environment: Environment,
  params: ArchivedListParams,
): Promise<EventPage> {
  const page = new Page(environment, params);
  for (const { name, day } of await filesOf(target, environment, params)) {
    if (page.isFull) break;
    const file = await target.open(name);
    try {
      if (file) await page.takeFrom(await groupsOf(decoder, "events", file));
    } finally {
      await file?.close();
    }
    page.reach({ receivedAt: day * DAY_MS, sequence: 0 });
  }
  return page.result;
}

/** Newest first. */
async function filesOf(
  target: ArchiveTarget,
  { name }: Environment,
  { from = 0, to = Number.MAX_SAFE_INTEGER, after }: ArchivedListParams,
) {
  const until = Math.min(to, (after?.receivedAt ?? Number.MAX_SAFE_INTEGER) + 1);
  return (await target.list(tablePrefix(name, "events")))
    .map((file) => ({ name: file.name, day: dayOfFile(file.name) }))
    .filter((file): file is { name: string; day: number } => file.day !== null)
    .filter(({ day }) => day * DAY_MS < until && (day + 1) * DAY_MS > from)
    .reverse();
}

class Page {
  readonly #environment: Environment;
  readonly #params: ArchivedListParams;
  readonly #endAt = performance.now() + PAGE_MS_MAX;
  readonly #events: StoredEvent[] = [];
  #bytes = 0;
  /** All newer events that are asked for are in the page. */
  #reached: EventCursor | null = null;
  #isFull = false;

  constructor(environment: Environment, params: ArchivedListParams) {
    this.#environment = environment;
    this.#params = params;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  get result(): EventPage {
    return { events: this.#events, next: this.#isFull ? this.#reached : null };
  }

  /** After a file was read to its end. */
  reach(cursor: EventCursor): void {
    if (!this.#isFull) this.#reached = cursor;
  }

  async takeFrom(groups: readonly FileGroup[]): Promise<void> {
    for (const group of [...groups].reverse()) {
      if (this.#isFull) return;
      // At least one group is read, so that every page comes nearer to the end.
      if (this.#reached !== null && performance.now() > this.#endAt) this.#isFull = true;
      else await this.#takeGroup(group);
    }
  }

  async #takeGroup(group: FileGroup): Promise<void> {
    if (!this.#mayHold(group)) return;
    const rough = (await group.read(FIRST_COLUMNS)) as unknown as Reached[];
    if (rough.some((row) => this.#isWanted(row))) this.#takeRows((await group.read()) as unknown as EventRow[]);
    const [first] = rough;
    if (first) this.reach({ receivedAt: first.received_at, sequence: first.sequence });
  }

  #takeRows(rows: readonly EventRow[]): void {
    for (const row of [...rows].reverse()) {
      if (!this.#isWanted(row)) continue;
      const event = toStoredEvent({ ...row, environment_id: this.#environment.id });
      if (this.#params.filters?.some((matches) => !matches(event))) continue;
      if (this.#events.length >= this.#params.limit || this.#bytes >= PAGE_BYTES_MAX) {
        this.#isFull = true;
        return;
      }
      this.#events.push(event);
      this.#bytes += bytesOfEvent(row);
      this.#reached = { receivedAt: row.received_at, sequence: row.sequence };
    }
  }

  /** By what the file says about the group. */
  #mayHold(group: FileGroup): boolean {
    const { id, from = 0, to = Number.MAX_SAFE_INTEGER, after } = this.#params;
    if (id !== undefined && !mayHold(group.bounds("event_id"), [id])) return false;
    const times = group.bounds("received_at");
    if (typeof times === "string") return times === "unknown";
    return Number(times.last) >= from && Number(times.first) < Math.min(to, (after?.receivedAt ?? Number.MAX_SAFE_INTEGER) + 1);
  }

  #isWanted({ event_id, name: found, received_at, sequence }: Reached): boolean {
    const { id, name, from = 0, to = Number.MAX_SAFE_INTEGER, after } = this.#params;
    if (id !== undefined && event_id !== id) return false;
    if (received_at < from || received_at >= to) return false;
    if (after && (received_at > after.receivedAt || (received_at === after.receivedAt && sequence >= after.sequence))) return false;
    return name === undefined || (name.endsWith("*") ? found.startsWith(name.slice(0, -1)) : found === name);
  }
}
