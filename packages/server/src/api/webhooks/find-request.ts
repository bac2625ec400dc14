/** A recorded request of a webhook, to be shown or run again. */

import type { WebhookRequestId } from "@inlet/protocol";
import type { Webhook, WebhookRequest, WebhookRequestStore } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";

export async function findRequest(
  store: Pick<WebhookRequestStore, "webhookRequestGet">,
  webhook: Webhook,
  id: string,
): Promise<WebhookRequest> {
  const { environmentId, id: webhookId } = webhook;
  const record = await store.webhookRequestGet({ environmentId, webhookId, id: id as WebhookRequestId });
  if (!record) throw new RestRefusal("webhook_request_not_found", `No request ${id} is recorded for this webhook.`);
  return record;
}

/** An oversized request was recorded without its body: there is nothing to run again. */
export function withBody(record: WebhookRequest): WebhookRequest {
  if (record.body !== null) return record;
  throw new RestRefusal("webhook_request_incomplete", "The body of this request was too large to store.");
}
