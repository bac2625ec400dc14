/** What a new webhook is created with, from its provider and what was entered. */

import type { AlertRuleFields } from "../api/alerts.ts";
import type { Provider, Webhook } from "../api/types.ts";

/** Presets that cannot respond without a secret. */
const NEEDS_SECRET = ["x", "zoom"];

/** Without a secret nothing can be verified, and some handshakes cannot be answered. A secret that no scheme uses is checked by the handshake. */
export function checksOf({ verify, secretFrom, handshake }: Provider, secret: string, verifyToken: string) {
  const isHandedOver = verify !== null && secretFrom === null;
  const preset = handshake?.preset ?? "";
  const isAnswerable = preset === "meta" ? verifyToken !== "" : !NEEDS_SECRET.includes(preset) || secret !== "";
  const ownSecrets = preset === "meta" ? [verifyToken] : verify === null && secret !== "" ? [secret] : null;
  return {
    ...(verify && secret !== "" && { verify: { ...verify, secrets: [secret] } }),
    ...(isHandedOver && { verify }),
    ...(handshake && isAnswerable && { handshake: { ...handshake, ...(ownSecrets && { secrets: ownSecrets }) } }),
  };
}

/** A provider that stops sending makes no error: only an alert rule notices. */
export function silenceRule({ id, name }: Webhook, windowSeconds: number): AlertRuleFields {
  const subject = { function: null, webhook: id, event: null, threshold: null };
  return { name: `${name} is silent`, kind: "silence", ...subject, windowSeconds, quietHours: null, enabled: true };
}
