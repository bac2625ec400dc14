/** What a query shows while it loads: the data of before, if that is about the same subject, and nothing of another environment or object. */

import { partialMatchKey, type QueryKey } from "@tanstack/react-query";

/** `subject` is what the key of the query before must have in common with this one; the rest, such as the time range, may differ. */
export function keepForSubject(subject: QueryKey) {
  return <Data>(data: Data | undefined, before: { queryKey: QueryKey } | undefined): Data | undefined =>
    before && partialMatchKey(before.queryKey, subject) ? data : undefined;
}
