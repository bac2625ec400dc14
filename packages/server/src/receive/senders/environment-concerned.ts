/** The environment that a refused request was meant for, derived from path, header and query. Used for figures, not for access. */

import { type EnvironmentId, environmentNamed } from "@inlet/protocol";
import type { InboundRequest } from "../inbound-request.ts";
import { branchNamed } from "../route-webhook.ts";
import type { Directory } from "./directory.ts";

/** An unknown key is attributed to the default environment, where an operator looks first. */
export function environmentConcerned(directory: Directory, request: InboundRequest, defaultEnvironment: string): EnvironmentId | null {
  const { keyText, headers } = request;
  const webhook = directory.webhookWithToken(keyText)?.webhook;
  const home = webhook?.environmentId ?? directory.eventKey(keyText)?.environmentId;
  if (home === undefined || home === null) return directory.environmentNamed(defaultEnvironment)?.id ?? null;
  if (directory.environment(home)?.kind !== "shared") return home;
  // The query of a request with a key is not read.
  const named = webhook ? branchNamed(directory, request) : directory.environmentNamed(environmentNamed(headers) ?? "");
  return named?.kind === "branch" ? named.id : home;
}

/** The webhook or key that a refused request came to; null if there is none. */
export function sourceConcerned(directory: Directory, { keyText }: InboundRequest): { kind: "webhook" | "key"; id: string } | null {
  const webhook = directory.webhookWithToken(keyText)?.webhook;
  if (webhook) return { kind: "webhook", id: webhook.id };
  const key = directory.eventKey(keyText);
  return key ? { kind: "key", id: key.id } : null;
}
