/** The filters of the audit log, as URL parameters. */

import { readTimeRange, type TimeRange } from "../lists/time-range.ts";

export interface AuditSearch extends TimeRange {
  action?: string;
  actor?: string;
}

export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const text = (name: "action" | "actor") => (typeof search[name] === "string" && search[name] !== "" ? { [name]: search[name] } : {});
  return { ...text("action"), ...text("actor"), ...readTimeRange(search) };
}
