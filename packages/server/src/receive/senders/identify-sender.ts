/** Whose key is in the path, and into which environment its events go. */

import { environmentNamed, Refusal } from "@inlet/protocol";
import type { Environment, EventSource, Key } from "../../store/contract/index.ts";
import type { InboundRequest } from "../inbound-request.ts";
import { type Directory, PLACEHOLDER_KEY_ID } from "./directory.ts";
import { isIssuedEventKey } from "./issue-key.ts";

export interface Sender {
  environment: Environment;
  source: EventSource;
  /** Null for the placeholder keys a dev server accepts. */
  key: Key | null;
}

/** The source of events that came with a placeholder key. */
const PLACEHOLDER_SOURCE: EventSource = { kind: "key", id: PLACEHOLDER_KEY_ID };

export interface SenderRules {
  directory: Directory;
  /** Where a placeholder key sends, or null when keys are checked. */
  placeholderEnvironment: string | null;
  /** How many seconds an address has to wait that has brought too many wrong keys; null when it has not. */
  attempts: { waitS(ip: string, keyId: string | null): number | null };
}

export function identifySender(rules: SenderRules, request: Pick<InboundRequest, "keyText" | "headers" | "ip">): Sender | Refusal {
  const { keyText } = request;
  const named = environmentNamed(request.headers);
  const key = rules.directory.eventKey(keyText);
  // Keys made by Inlet cannot be guessed: they never wait for the wrong keys of others at their address.
  if (key && (isIssuedEventKey(keyText) || rules.attempts.waitS(request.ip, key.id) === null)) {
    return senderWithKey(rules.directory, key, named);
  }
  if (key) return tooManyAttempts();
  if (rules.placeholderEnvironment !== null && keyText !== "") {
    return senderWithPlaceholder(rules.directory, named ?? rules.placeholderEnvironment);
  }
  if (rules.attempts.waitS(request.ip, null) !== null) return tooManyAttempts();
  return new Refusal("event_key_invalid", "This event key is unknown or was revoked.");
}

function tooManyAttempts(): Refusal {
  return new Refusal(
    "too_many_attempts",
    "Too many requests from this address had an unknown key. Send more slowly, with a key that works.",
  );
}

function senderWithKey(directory: Directory, key: Key, named: string | null): Sender | Refusal {
  const home = key.environmentId === null ? undefined : directory.environment(key.environmentId);
  if (!home) throw new Error(`event key ${key.id} has no environment`);
  const source: EventSource = { kind: "key", id: key.id };
  if (home.kind !== "shared") {
    if (named !== null && named !== home.name) return forbidden(home, named);
    return home.archivedAt === null ? { environment: home, source, key } : notFound(home.name);
  }
  if (named === null) {
    return new Refusal(
      "environment_missing",
      "A branch key sends to the branch environment named by the header x-service-env, which is missing.",
    );
  }
  const environment = directory.environmentNamed(named);
  if (environment?.kind !== "branch" || environment.archivedAt !== null) return notFound(named, "branch environment");
  return { environment, source, key };
}

function senderWithPlaceholder(directory: Directory, name: string): Sender | Refusal {
  const environment = directory.environmentNamed(name);
  if (!environment || environment.kind === "shared" || environment.archivedAt !== null) return notFound(name);
  return { environment, source: PLACEHOLDER_SOURCE, key: null };
}

function notFound(name: string, what = "environment"): Refusal {
  return new Refusal("environment_not_found", `There is no ${what} "${name}", or it is archived.`);
}

function forbidden(home: Environment, named: string): Refusal {
  return new Refusal(
    "environment_forbidden",
    `This key belongs to the environment "${home.name}" and cannot send to "${named}". To send to branch environments, create a key with POST /v1/keys and the header x-service-env: branch.`,
  );
}
