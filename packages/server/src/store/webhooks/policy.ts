/** Which secrets a webhook has after a change, and which version of its transform is in force. */

import { SECRETS_MAX, type Webhook, type WebhookChanges, type WebhookSecrets, type WebhookVersion } from "../contract/index.ts";

export function secretsAfter({ verify, secrets }: Pick<Webhook, "verify" | "secrets">, changes: WebhookChanges): WebhookSecrets {
  const given = { ...secrets, ...changes.secrets };
  const hasVerify = changes.verify === undefined ? verify !== null : changes.verify !== null;
  const after: WebhookSecrets = {
    verify: hasVerify ? given.verify : [],
    handshake: changes.handshake === null ? null : given.handshake,
    isHandedOver: changes.handshake === undefined && secrets.isHandedOver,
    reconcile: changes.reconcile === null ? [] : given.reconcile,
  };
  return changes.handedOver === undefined ? after : withHandedOver(after, changes.handedOver, hasVerify);
}

/** Only the first secret is accepted: anyone who learns the URL later cannot add a secret of their own. */
function withHandedOver(secrets: WebhookSecrets, secret: string, hasVerify: boolean): WebhookSecrets {
  const owner = hasVerify && secrets.handshake === null ? "verify" : "handshake";
  const known = secrets[owner] ?? [];
  if (secrets.isHandedOver || known.length >= SECRETS_MAX) return secrets;
  return { ...secrets, [owner]: [...known, secret], isHandedOver: true };
}

export interface VersionInForce {
  version: number;
  /** The version has to be created, with the transform of the change. */
  isNew: boolean;
}

/**
 * `known`: the versions of the webhook, newest first. A transform that the version in force already has creates none. Null: the change
 * names a version that does not exist.
 */
export function versionInForce(
  { version: current }: Pick<Webhook, "version">,
  { transform, version = current }: Pick<WebhookChanges, "transform" | "version">,
  known: readonly WebhookVersion[],
): VersionInForce | null {
  const chosen = known.find((one) => one.version === version);
  if (!chosen) return null;
  if (transform === undefined || chosen.transform === transform) return { version, isNew: false };
  return { version: (known[0]?.version ?? 0) + 1, isNew: true };
}
