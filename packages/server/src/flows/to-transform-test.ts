/** Converts a test request of REST to the input of the transform stage, with the URLs that a provider may have signed. */

import type { TrialParams } from "../api/webhooks/transforms-routes.ts";
import { targetOf } from "../receive/connections/target.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { TransformOwner, TrialRequest } from "../transform/index.ts";

export interface TrialParts {
  directory: Directory;
  publicUrl: string | null;
  now: () => number;
}

export function toTransformTest(
  { webhook, environmentId, method = "POST", sign = false, receipt, ...request }: TrialParams,
  parts: TrialParts,
): TrialRequest {
  const trial = { ...request, owner: ownerOf(environmentId) };
  if (!webhook || (!webhook.verify && !webhook.handshake)) return trial;
  const query = request.query ?? queryText(request.queryParams);
  const host = Object.entries(request.headers).find(([name]) => name.toLowerCase() === "host")?.[1] ?? "localhost";
  const bases = parts.publicUrl === null ? [`https://${host}`, `http://${host}`] : [parts.publicUrl];
  const tokens = receipt ? parts.directory.tokensOf(webhook.id) : [webhook.token];
  return {
    ...trial,
    authentication: {
      rules: webhook,
      method,
      query,
      signs: sign,
      urls: bases.flatMap((base) => tokens.map((token) => base + targetOf(token, query))),
      receipt: receipt ?? { at: parts.now(), wasVerified: null },
    },
  };
}

/** What people try takes its time from what the environment is due, and shares it: each draft is a version of its own. */
function ownerOf(environmentId: TrialParams["environmentId"]): TransformOwner {
  const environment = environmentId === null ? "trials" : String(environmentId);
  return { webhook: `trials of ${environment}`, environment };
}

function queryText(queryParams: TrialParams["queryParams"]): string {
  const pairs = Object.entries(queryParams).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  return new URLSearchParams(pairs).toString();
}
