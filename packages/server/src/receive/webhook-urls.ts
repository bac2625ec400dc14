/** The URL of a webhook as its provider signed it: the public URL of the service, with path and query as sent. */

import { targetOf } from "./connections/target.ts";
import type { InboundRequest } from "./inbound-request.ts";
import type { Directory, WebhookTarget } from "./senders/directory.ts";

export interface WebhookUrlParts {
  publicUrl: string | null;
  directory: Directory;
}

/** Without a public URL, the address that the client connected to, with either scheme, since a proxy may have terminated TLS. */
export function webhookUrls({ publicUrl, directory }: WebhookUrlParts, request: InboundRequest, { webhook }: WebhookTarget): string[] {
  const { host = "" } = request.headers;
  const bases = publicUrl === null ? [`https://${host}`, `http://${host}`] : [publicUrl];
  const targets = request.receipt ? everyTarget(directory, webhook.id, request.query) : [request.target];
  return bases.flatMap((base) => targets.map((target) => base + target));
}

/** A recorded request does not say which of the webhook's URLs it was sent to. */
function everyTarget(directory: Directory, id: string, query: string): string[] {
  return directory.tokensOf(id).map((token) => targetOf(token, query));
}
