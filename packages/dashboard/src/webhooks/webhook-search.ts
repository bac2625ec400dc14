/** The open tab of a webhook's page, as URL parameters. */

export const WEBHOOK_TABS = ["transform", "requests", "versions", "reconcile", "drill", "settings"] as const;
export type WebhookTab = (typeof WEBHOOK_TABS)[number];

/** The filters of its requests. */
export interface RequestSearch {
  outcome?: string | undefined;
  q?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

export interface WebhookSearch extends RequestSearch {
  tab?: WebhookTab;
  request?: string;
}

export function readWebhookSearch(search: Record<string, unknown>): WebhookSearch {
  return {
    ...(WEBHOOK_TABS.includes(search.tab as WebhookTab) && { tab: search.tab as WebhookTab }),
    ...(typeof search.request === "string" && { request: search.request }),
    ...requestSearch(search),
  };
}

export function requestSearch({ outcome, q, from, to }: Record<string, unknown>): RequestSearch {
  return {
    ...(typeof outcome === "string" && outcome !== "" && { outcome }),
    ...((typeof q === "string" || typeof q === "number") && q !== "" && { q: String(q) }),
    ...(typeof from === "number" && { from }),
    ...(typeof to === "number" && { to }),
  };
}
