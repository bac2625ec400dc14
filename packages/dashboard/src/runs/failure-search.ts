/** The filters of the failures page, as URL parameters. */

import { FAILURE_STATES, type FailureState } from "../api/failures.ts";
import { readSpanSearch, type SpanSearch } from "../lists/span-search.ts";

export interface FailureSearch extends SpanSearch {
  /** Absent: open failures. */
  state?: FailureState;
  function?: string;
  q?: string;
}

export function readFailureSearch(search: Record<string, unknown>): FailureSearch {
  const text = (name: string) => (search[name] === undefined || search[name] === "" ? {} : { [name]: String(search[name]) });
  const state = FAILURE_STATES.find((one) => one === search.state && one !== "open");
  return { ...readSpanSearch(search), ...(state && { state }), ...text("function"), ...text("q") };
}
