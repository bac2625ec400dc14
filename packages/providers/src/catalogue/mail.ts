/** Providers of mail. */

import type { Provider } from "../provider.ts";

/** The signature is in the body. Digests are compared, so that timing does not reveal where texts differ. */
const MAILGUN = `function handshake({ method, raw, secrets }) {
  if (method !== "POST" || secrets.length === 0) return;
  const { timestamp, token, signature } = JSON.parse(raw).signature;
  const digest = (text) => sha256(text, "hex");
  const isSigned = secrets.some((secret) => digest(hmac("sha256", secret, timestamp + token, "hex")) === digest(signature));
  if (!isSigned) throw new Error("The signature in the body is not that of any secret.");
}`;

export const MAIL: readonly Provider[] = [
  {
    id: "sendgrid",
    title: "SendGrid",
    category: "mail",
    sends: "Email events (delivered, opened, bounced, …), several in one request, as a JSON array",
    setUp: "SendGrid, Settings, Mail Settings, Event Webhooks",
    signatureHeader: "X-Twilio-Email-Event-Webhook-Signature",
    verify: null,
    secretFrom: null,
    handshake: null,
    note: "SendGrid signs with an elliptic-curve key pair instead of a shared secret. Verify the request in a function: check verify.signature (ECDSA with SHA-256) over verify.timestamp followed by verify.raw, with the public key from the settings of the event webhook.",
    retries: null,
    timeout: null,
    documentation: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event",
    notReconciled: "Its API lists messages, not the events that webhooks send.",
    source: {
      verify: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
      reconcile: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event",
    },
  },
  {
    id: "resend",
    title: "Resend",
    category: "mail",
    sends: "Email events (sent, delivered, opened, bounced, …), as JSON through Svix",
    setUp: "Resend, Webhooks: add an endpoint",
    signatureHeader: "Svix-Signature",
    verify: { scheme: "standard-webhooks" },
    secretFrom: "The signing secret on the webhook's page",
    handshake: null,
    note: null,
    retries: "After 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h; an endpoint that keeps failing is disabled",
    timeout: "15 s",
    documentation: "https://resend.com/docs/dashboard/webhooks/introduction",
    reconcile: "resend",
    source: {
      verify: "https://resend.com/docs/webhooks/verify-webhooks-requests",
      retries: "https://resend.com/docs/webhooks/retries-and-replays",
      timeout: "https://docs.svix.com/retries",
      reconcile: "https://resend.com/docs/api-reference/webhooks/list-events",
    },
  },
  {
    id: "postmark",
    title: "Postmark",
    category: "mail",
    sends: "Email events (delivered, opened, bounced, …) and inbound emails, as JSON",
    setUp: "Postmark, your server, message stream, Webhooks: the URL, with basic authentication",
    signatureHeader: "Authorization",
    verify: { scheme: "basic", user: "postmark" },
    secretFrom: "The password that you entered with the user name postmark",
    handshake: null,
    note: null,
    retries: "Inbound mail: 10 times over about 10.5 hours, after 1 minute to 6 hours; not after 403",
    timeout: null,
    documentation: "https://postmarkapp.com/developer/webhooks/webhooks-overview",
    notReconciled: "Its API lists bounces without the metadata that webhooks contain, and all other events only for one message at a time.",
    source: {
      retries: "https://postmarkapp.com/support/article/understanding-inbound-webhook-retries-in-postmark",
      reconcile: "https://postmarkapp.com/developer/api/bounce-api",
    },
  },
  {
    id: "mailgun",
    title: "Mailgun",
    category: "mail",
    sends: "Email events (accepted, delivered, opened, failed, …), as JSON",
    setUp: "Mailgun, Sending, Webhooks: the URL for each kind of event",
    signatureHeader: null,
    verify: null,
    secretFrom: "The HTTP webhook signing key of the account",
    handshake: { source: MAILGUN },
    note: "Mailgun puts the signature into the body, and signs only a timestamp and a token. No scheme fits: set the signing key as a secret of the handshake, whose function then refuses requests without a valid signature. The signature does not cover the event itself.",
    retries: "For 8 hours, after 5 min, 10 min, 15 min, 1 h, 2 h and 4 h; not after 406, and not for delivered emails",
    timeout: null,
    documentation: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhooks",
    reconcile: "mailgun",
    source: {
      verify: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
      handshake: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks",
      retries: "https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-retries",
      reconcile: "https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/events/get-v3-domain_name-events",
    },
  },
  {
    id: "mailchimp",
    title: "Mailchimp",
    category: "mail",
    sends: "Subscribes, unsubscribes, profile changes and campaigns of an audience, as a form",
    setUp: "Mailchimp, Audience, Settings, Webhooks: callback URL",
    signatureHeader: null,
    verify: null,
    secretFrom: null,
    handshake: { source: 'function handshake({ method }) {\n  if (method !== "POST") return { status: 200, body: "" };\n}' },
    note: "Mailchimp does not sign. The URL is the secret: rotate it if it leaks.",
    retries: "With growing delays over 75 minutes",
    timeout: "10 s",
    documentation: "https://mailchimp.com/developer/marketing/guides/sync-audience-data-webhooks/",
    notReconciled: "Its API lists members and their activity, not the events that webhooks send.",
    source: {
      verify: "https://www.skills.sh/hookdeck/webhook-skills/mailchimp-webhooks",
      handshake: "https://www.skills.sh/hookdeck/webhook-skills/mailchimp-webhooks",
      retries: "https://mailchimp.com/developer/marketing/guides/sync-audience-data-webhooks/",
      timeout: "https://mailchimp.com/developer/marketing/guides/sync-audience-data-webhooks/",
      reconcile: "https://mailchimp.com/developer/marketing/guides/sync-audience-data-webhooks/",
    },
  },
];
