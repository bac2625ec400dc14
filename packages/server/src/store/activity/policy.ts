/** What both engines decide of activity. */

import type { ActivitySubject } from "./contract.ts";

const ANY = "*";

/** Which subjects are meant: one, or for an event name that ends in `*` all that begin so. */
export function subjectsOf({ kind, subject }: Pick<ActivitySubject, "kind" | "subject">): { text: string; isPrefix: boolean } {
  const isPrefix = kind === "event" && subject.endsWith(ANY);
  return { text: isPrefix ? subject.slice(0, -ANY.length) : subject, isPrefix };
}
