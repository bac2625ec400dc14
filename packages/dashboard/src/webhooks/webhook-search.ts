/** The open tab of a webhook's page, as URL parameters. */

export const WEBHOOK_TABS = ["transform", "requests", "versions", "drill", "settings"] as const;
export type WebhookTab = (typeof WEBHOOK_TABS)[number];

export interface WebhookSearch {
  tab?: WebhookTab;
  request?: string;
  outcome?: string;
}

export function readWebhookSearch(search: Record<string, unknown>): WebhookSearch {
  return {
    ...(WEBHOOK_TABS.includes(search.tab as WebhookTab) && { tab: search.tab as WebhookTab }),
    ...(typeof search.request === "string" && { request: search.request }),
    ...(typeof search.outcome === "string" && search.outcome !== "" && { outcome: search.outcome }),
  };
}
