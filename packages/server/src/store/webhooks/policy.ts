/** Which secrets a webhook has after a change, and which version of its transform is in force. */

import { isOtherHandshakeSource, reconcileRecipient } from "@inlet/protocol";
import {
  SECRETS_MAX,
  type Webhook,
  type WebhookChanges,
  type WebhookReconcile,
  type WebhookSecrets,
  type WebhookVersion,
} from "../contract/index.ts";

type WithSecrets = Pick<Webhook, "verify" | "handshake" | "reconcile" | "secrets">;

/** Stored secrets are not given to other code or another host, whatever the webhook was when the change was checked. */
export function secretsAfter(webhook: WithSecrets, changes: WebhookChanges): WebhookSecrets {
  const { verify, handshake, secrets } = webhook;
  const hasVerify = changes.verify === undefined ? verify !== null : changes.verify !== null;
  const given = { ...secrets, ...changes.secrets };
  const after: WebhookSecrets = {
    verify: hasVerify ? given.verify : [],
    handshake: changes.handshake === null ? null : given.handshake,
    isHandedOver: changes.handshake === undefined && secrets.isHandedOver,
    reconcile: changes.reconcile === null ? [] : given.reconcile,
  };
  if (isOtherHandshakeSource(changes.handshake, handshake)) after.handshake = changes.secrets?.handshake ?? null;
  if (isOtherRecipient(changes.reconcile, webhook.reconcile)) after.reconcile = changes.secrets?.reconcile ?? [];
  const { handedOver } = changes;
  if (handedOver === undefined || !handshake || !("preset" in handshake) || handshake.preset !== handedOver.preset) return after;
  return withHandedOver(after, handedOver.secret, hasVerify);
}

function isOtherRecipient(changed: WebhookReconcile | null | undefined, current: WebhookReconcile | null): boolean {
  if (!changed) return false;
  return current === null || reconcileRecipient(changed) !== reconcileRecipient(current);
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
