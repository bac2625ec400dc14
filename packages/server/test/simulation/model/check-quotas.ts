/**
 * Quotas: while one is in force, no more is accepted than it allows, exactly on one node and within a tenth on several. And usage: it is what was
 * stored, whatever was killed.
 */

import type { StoredEvent } from "../../../src/store/contract/index.ts";
import type { QuotaNote } from "../journal-notes.ts";
import type { Played } from "../world.ts";

type Fault = (message: string) => void;

const SECOND_MS = 1_000;
/** While timers are jumbled, time passes between a decision and what follows from it. */
const JUMBLE_MS = 300;
/** How much more nodes that share a quota may accept. */
const SHARED_TOLERANCE = 1.1;

export function checkQuotas(played: Played, fault: Fault): void {
  const counted = played.events.filter(({ source }) => source.kind !== "internal").sort((a, b) => a.sequence - b.sequence);
  checkUsage(played, counted, fault);
  for (const note of played.journal.quotas) {
    if (note.quota === "eventsPerSecond") checkSeconds(played, counted, note, fault);
    else if (note.quota === "eventsPerDay" || note.quota === "bytesPerDay") checkDay(played, counted, note, fault);
  }
}

/** Accepted events, bytes and runs are exact. */
function checkUsage({ usage, runs, journal, functionIds }: Played, counted: readonly StoredEvent[], fault: Fault): void {
  const sum = (kind: string, figure: "accepted" | "bytes" | "runs") =>
    usage.filter((hour) => hour.kind === kind).reduce((total, { figures }) => total + figures[figure], 0);
  const told = (what: string, shown: number, real: number) => {
    if (shown !== real) fault(`usage shows ${shown} ${what}, and there were ${real}`);
  };
  told("events", sum("environment", "accepted"), counted.length);
  told("bytes", sum("environment", "bytes"), bytesOf(journal, counted));
  told("runs", sum("environment", "runs"), runs.length);
  const bySource = sum("key", "accepted") + sum("webhook", "accepted") + sum("function", "accepted");
  told("events by source", bySource, counted.length);
  void functionIds;
}

/** The body of a request counts once. All of its events were received at one time; the same may be stored again once retention removed it. */
function bytesOf({ requestOf }: Played["journal"], events: readonly StoredEvent[]): number {
  const requests = new Map(events.map(({ id, receivedAt }) => [`${requestOf.get(id)?.key} ${receivedAt}`, requestOf.get(id)?.bytes ?? 0]));
  return [...requests.values()].reduce((sum, bytes) => sum + bytes, 0);
}

interface InForce {
  /** How much may be accepted. */
  limit: number;
  since: number;
  /** The quota held for the event, whenever that was decided: a request may wait, and shows when it was received. */
  holdsFor(event: StoredEvent): boolean;
  /** It was decided by then that the event is accepted. */
  acceptedBy(event: StoredEvent): number;
}

/** What holds while the quota is in force everywhere. */
function inForce({ scenario, journal }: Played, { limit, setAt, endAskedAt }: QuotaNote): InForce {
  const { isRealTime } = scenario;
  const since = isRealTime ? setAt + journal.tellingMs : setAt;
  const waitMs = scenario.jumble > 0 ? JUMBLE_MS : 0;
  const acceptedBy = ({ id, receivedAt }: StoredEvent) =>
    isRealTime ? (journal.storedAt.get(id) ?? Number.POSITIVE_INFINITY) : receivedAt + waitMs;
  return {
    limit: isRealTime ? Math.ceil(limit * SHARED_TOLERANCE) : limit,
    since,
    holdsFor: (event) => event.receivedAt > since && acceptedBy(event) < endAskedAt,
    acceptedBy,
  };
}

/** No second has more. Nodes that share a quota count by seconds of the clock. A process that begins knows nothing of the second before. */
function checkSeconds(played: Played, counted: readonly StoredEvent[], note: QuotaNote, fault: Fault): void {
  const { limit, since, holdsFor, acceptedBy } = inForce(played, note);
  const { journal, scenario } = played;
  const events = counted.filter(holdsFor).sort((a, b) => a.receivedAt - b.receivedAt);
  const isCut = (from: number, to: number) => journal.processStarts.some((at) => at >= from && at <= to);
  for (const [index, { receivedAt: from }] of events.entries()) {
    const start = scenario.isRealTime ? from - (from % SECOND_MS) : from;
    if (start <= since || isCut(start, start + SECOND_MS)) continue;
    const following = events.slice(scenario.isRealTime ? 0 : index);
    const within = following.filter((event) => event.receivedAt >= start && acceptedBy(event) < start + SECOND_MS).length;
    if (within > limit) return fault(`${within} events were accepted within a second, where ${note.limit} may be`);
  }
}

/** The last that was accepted is within the quota. */
function checkDay(played: Played, counted: readonly StoredEvent[], note: QuotaNote, fault: Fault): void {
  const { limit, since, holdsFor } = inForce(played, note);
  const used = (events: readonly StoredEvent[]) => (note.quota === "eventsPerDay" ? events.length : bytesOf(played.journal, events));
  const before = used(counted.filter(({ receivedAt }) => receivedAt <= since));
  const last = counted.findLastIndex(holdsFor);
  if (last < 0) return;
  const all = used(counted.slice(0, last + 1));
  if (all > Math.max(limit, before)) fault(`${all} of ${note.quota} were used, where ${note.limit} may be`);
}
