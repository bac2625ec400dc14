/** The environment of a webhook's event. */

import { ENVIRONMENT_HEADER, ENVIRONMENT_HEADER_ALIAS, environmentNamed, Refusal } from "@inlet/protocol";
import type { Environment, Webhook } from "../store/contract/index.ts";
import type { InboundRequest } from "./inbound-request.ts";

export interface RouteDirectory {
  environment(id: Webhook["environmentId"]): Environment | undefined;
  environmentNamed(name: string): Environment | undefined;
}

/**
 * A webhook of an ordinary environment delivers there. One of the shared scope delivers to the branch that the request names, by
 * header or query. If it names none, or one that is unknown or archived, the event is stored in the shared scope, where nothing runs.
 */
export function routeWebhook(directory: RouteDirectory, webhook: Webhook, request: InboundRequest): Environment | Refusal {
  const home = directory.environment(webhook.environmentId);
  if (!home) throw new Error(`webhook ${webhook.id} has no environment`);
  if (home.kind !== "shared") {
    return home.archivedAt === null ? home : new Refusal("environment_not_found", `The environment "${home.name}" is archived.`);
  }
  return branchNamed(directory, request) ?? home;
}

/** The branch that a request to a webhook of the shared scope names; null if there is none, or it is archived. */
export function branchNamed(
  directory: Pick<RouteDirectory, "environmentNamed">,
  { headers, query }: Pick<InboundRequest, "headers" | "query">,
): Environment | null {
  const named = environmentNamed(headers) ?? nameInQuery(query);
  const branch = named === null ? undefined : directory.environmentNamed(named);
  return branch?.kind === "branch" && branch.archivedAt === null ? branch : null;
}

function nameInQuery(query: string): string | null {
  // Cheap for nearly every request. Names of parameters may be percent-encoded.
  if (!query.includes("-env=") && !query.includes("%")) return null;
  const parameters = new URLSearchParams(query);
  return parameters.get(ENVIRONMENT_HEADER) || parameters.get(ENVIRONMENT_HEADER_ALIAS) || null;
}
