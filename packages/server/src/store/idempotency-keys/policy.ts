/** Which stored responses may name an event or an approval: each is stored with the times of the ids in it. */

import { ID_TIME_LETTERS } from "@inlet/protocol/event-id";

/** Not within a longer word. */
const ID = /(?<![0-9A-Z])[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Z])/g;

/** The beginnings of all ids in a text, which are their times. Those of events that were sent together are the same. */
export function idTimesIn(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(ID), ([id]) => id.slice(0, ID_TIME_LETTERS)))];
}
