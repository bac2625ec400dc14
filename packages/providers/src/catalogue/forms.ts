/** Providers of forms. */

import type { Provider } from "../provider.ts";

export const FORMS: readonly Provider[] = [
  {
    id: "typeform",
    title: "Typeform",
    category: "forms",
    sends: "Submitted responses, as JSON",
    setUp: "Typeform, your form, Connect, Webhooks: the URL, then a secret; or the Webhooks API",
    signatureHeader: "Typeform-Signature",
    verify: { scheme: "hmac", header: "Typeform-Signature", algorithm: "sha256", encoding: "base64", prefix: "sha256=", signed: "{raw}" },
    secretFrom: "The secret of the webhook",
    handshake: null,
    note: null,
    retries:
      "After 408, 423, 429 and 503 every 2 to 3 minutes for 10 hours, after other errors several times with growing delays; disabled after 404 or 410",
    timeout: "30 s",
    documentation: "https://www.typeform.com/developers/webhooks/",
    notReconciled: "Its API lists responses without the form's definition and the event's id, which webhooks contain.",
    source: {
      verify: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
      setUp: "https://hookdeck.com/webhooks/platforms/guide-to-typeform-webhooks-features-and-best-practices",
      retries: "https://www.typeform.com/developers/webhooks/",
      timeout: "https://typeform.com/developers/webhooks",
      reconcile: "https://www.typeform.com/developers/webhooks/",
    },
  },
  {
    id: "tally",
    title: "Tally",
    category: "forms",
    sends: "Submitted forms, as JSON",
    setUp: "Tally, your form, Integrations, Webhooks: endpoint URL and signing secret",
    signatureHeader: "Tally-Signature",
    verify: { scheme: "hmac", header: "Tally-Signature", algorithm: "sha256", encoding: "base64", signed: "{raw}" },
    secretFrom: "The signing secret of the webhook",
    handshake: null,
    note: null,
    retries: null,
    timeout: "10 s",
    documentation: "https://tally.so/help/webhooks",
    reconcile: "tally",
    source: {
      verify: "https://www.skills.sh/hookdeck/webhook-skills/tally-webhooks",
      setUp: "https://tally.so/help/webhooks",
      timeout: "https://tally.so/help/webhooks",
      reconcile: "https://developers.tally.so/api-reference/endpoint/webhooks/events/get",
    },
  },
];
