/**
 * Who follows a channel gets every message that was published, once and in order, on whichever nodes it was connected meanwhile. It misses
 * only messages that are not kept for as long as it was away, and is told so then, and only then.
 */

import type { StreamNote } from "../journal-notes.ts";
import { STREAM_RETENTION_MS } from "../process-settings.ts";
import type { Played } from "../world.ts";

type Fault = (message: string) => void;

export function checkStreams({ journal }: Played, fault: Fault): void {
  for (const note of journal.streams) checkStream(note, (message) => fault(`${note.channel}: ${message}`));
}

function checkStream(note: StreamNote, fault: Fault): void {
  const { published, received } = note;
  const disorder = received.find(({ number }, index) => number <= (received[index - 1]?.number ?? 0));
  if (disorder) fault(`message ${disorder.no} arrived as number ${disorder.number}, after a higher one`);
  for (const { no, tries, isStored } of published) {
    const times = received.filter((one) => one.no === no).length;
    if (isStored && times === 0 && !isInGap(note, no)) fault(`message ${no} never arrived, and its follower was not told`);
    if (times > tries) fault(`message ${no} arrived ${times} times, and was published ${tries} times`);
  }
  checkGaps(note, fault);
  // What was published again may have been stored late.
  const once = new Set(published.filter(({ tries }) => tries === 1).map(({ no }) => no));
  const order = received.map(({ no }) => no).filter((no) => once.has(no));
  const early = order.find((no, index) => pairOf(no) < pairOf(order[index - 1] ?? 0));
  if (early !== undefined) fault(`message ${early} arrived after a later one`);
}

/** Those of a pair are published at the same time. The first message is none of them. */
function pairOf(no: number): number {
  return Math.ceil(no / 2);
}

function isInGap({ received, gaps }: StreamNote, no: number): boolean {
  return gaps.some(
    (gap) =>
      received.slice(0, gap.received).every((one) => pairOf(one.no) <= pairOf(no)) &&
      pairOf(received[gap.received]?.no ?? no) >= pairOf(no),
  );
}

/** The last message before it is not kept any more. */
function checkGaps({ published, received, gaps }: StreamNote, fault: Fault): void {
  for (const gap of gaps) {
    const last = published[received[gap.received - 1]?.no ?? 0];
    const ageMs = gap.at - (last?.askedAt ?? gap.at);
    if (ageMs < STREAM_RETENTION_MS) fault(`its follower was told that messages are missing ${ageMs} ms after message ${last?.no}`);
  }
}
