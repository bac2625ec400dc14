/** A page of a webhook's requests. Filters by outcome and by text in the body are applied to slices, within a budget. */

import type { EventCursor, WebhookRequest, WebhookRequestListParams } from "../../contract/index.ts";
import { SearchBudget } from "../../events/rows/event-pages.ts";
import { jsonContains } from "../../events/rows/payload-contains.ts";
import { PAGE_BYTES_MAX, type Slice } from "../../shared/byte-bounds.ts";
import { bytesOfRequest, type RequestRow } from "./request-rows.ts";

/** Requests include their bodies, so few are read at a time. */
const SLICE_ROWS = 100;

export interface RequestPage {
  requests: WebhookRequest[];
  next: EventCursor | null;
}

/** `readSlice` reads the newest requests older than a cursor, whatever their outcome. */
export async function pageOfRequests(
  { limit, outcome, text, hidden, after: start, bytesMax = PAGE_BYTES_MAX }: WebhookRequestListParams,
  readSlice: (after: EventCursor | undefined, rows: number, bytesMax: number) => Promise<Slice<RequestRow>>,
  toRequest: (row: RequestRow) => WebhookRequest,
): Promise<RequestPage> {
  const isFiltered = outcome !== undefined || text !== undefined;
  const wantedText = text?.toLowerCase();
  const hasText = (body: string) => wantedText === undefined || (jsonContains(body, wantedText) && !hidden?.test(body));
  const sliceRows = !isFiltered ? limit + 1 : Math.max(limit + 1, SLICE_ROWS);
  const budget = new SearchBudget(start);
  const requests: WebhookRequest[] = [];
  let bytes = 0;
  let after = start;
  for (;;) {
    const { rows, isEnd } = await readSlice(after, sliceRows, bytesMax);
    for (const row of rows) {
      const isWanted = (outcome === undefined || row.outcome === outcome) && hasText(row.body ?? "");
      if (isWanted && (requests.length === limit || bytes >= bytesMax)) return { requests, next: after ?? null };
      if (isWanted) {
        requests.push(toRequest(row));
        bytes += bytesOfRequest(row);
      }
      after = { receivedAt: row.received_at, sequence: row.sequence };
    }
    if (isEnd) return { requests, next: null };
    if (bytes >= bytesMax) return { requests, next: after ?? null };
    budget.spend(rows.length);
    if (budget.isSpent) return { requests, next: after ?? null };
  }
}
