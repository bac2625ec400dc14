/** Providers of forms. */

import type { Provider } from "../provider.ts";

export const FORMS: readonly Provider[] = [
  {
    id: "typeform",
    title: "Typeform",
    category: "forms",
    sends: "Submitted responses, as JSON",
    setUp: "Typeform, your form, Connect, Webhooks: the URL, then a secret",
    signatureHeader: "Typeform-Signature",
    verify: { scheme: "hmac", header: "Typeform-Signature", algorithm: "sha256", encoding: "base64", prefix: "sha256=", signed: "{raw}" },
    secretFrom: "The secret of the webhook",
    handshake: null,
    note: null,
    retries: "For 10 hours, with growing delays; disabled after 404 or 410",
    timeout: "30 s",
    documentation: "https://www.typeform.com/developers/webhooks/",
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
    retries: "After 5 min, 30 min, 1 h, 6 h and 1 day",
    timeout: "10 s",
    documentation: "https://tally.so/help/webhooks",
  },
];
