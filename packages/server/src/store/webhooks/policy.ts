/** Which secrets a webhook has after a change. */

import { SECRETS_MAX, type Webhook, type WebhookChanges, type WebhookSecrets } from "../contract/index.ts";

export function secretsAfter({ verify, secrets }: Pick<Webhook, "verify" | "secrets">, changes: WebhookChanges): WebhookSecrets {
  const given = { ...secrets, ...changes.secrets };
  const hasVerify = changes.verify === undefined ? verify !== null : changes.verify !== null;
  const after: WebhookSecrets = {
    verify: hasVerify ? given.verify : [],
    handshake: changes.handshake === null ? null : given.handshake,
    isHandedOver: changes.handshake === undefined && secrets.isHandedOver,
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
