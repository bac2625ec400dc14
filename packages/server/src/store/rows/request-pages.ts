/** A page of a webhook's requests. No index knows their outcomes: a filter by outcome is applied to slices, within a budget. */

import type { EventCursor, WebhookRequest, WebhookRequestListParams } from "../contract/index.ts";
import { SearchBudget } from "./event-pages.ts";

/** Requests come with their bodies, so few are read at a time. */
const SLICE_ROWS = 100;

export interface RequestPage {
  requests: WebhookRequest[];
  next: EventCursor | null;
}

/** `readSlice` reads the newest requests older than a place, whatever their outcome. */
export async function pageOfRequests(
  { limit, outcome, after: start }: WebhookRequestListParams,
  readSlice: (after: EventCursor | undefined, rows: number) => Promise<WebhookRequest[]>,
): Promise<RequestPage> {
  const sliceRows = outcome === undefined ? limit + 1 : Math.max(limit + 1, SLICE_ROWS);
  const budget = new SearchBudget(start);
  const requests: WebhookRequest[] = [];
  let after = start;
  for (;;) {
    const slice = await readSlice(after, sliceRows);
    for (const request of slice) {
      const isWanted = outcome === undefined || request.outcome === outcome;
      if (isWanted && requests.length === limit) return { requests, next: after ?? null };
      if (isWanted) requests.push(request);
      after = { receivedAt: request.receivedAt, sequence: request.sequence };
    }
    if (slice.length < sliceRows) return { requests, next: null };
    budget.spend(slice.length);
    if (budget.isSpent) return { requests, next: after ?? null };
  }
}
