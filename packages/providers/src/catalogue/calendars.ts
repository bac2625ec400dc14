/** Providers of calendars and bookings. */

import type { Provider } from "../provider.ts";

/** Answers the validation of a new subscription; every notification must carry a clientState that is one of the secrets. */
const GRAPH = `function handshake({ queryParams, raw, secrets }) {
  const token = queryParams.validationToken?.[0];
  if (token !== undefined) return { status: 200, headers: { "Content-Type": "text/plain" }, body: token };
  if (secrets.length === 0) return;
  const isKnown = (state) => secrets.some((secret) => sha256(String(state), "hex") === sha256(secret, "hex"));
  if (!JSON.parse(raw).value.every(({ clientState }) => isKnown(clientState)))
    throw new Error("The clientState of a notification is not one of the secrets.");
}`;

export const CALENDARS: readonly Provider[] = [
  {
    id: "calendly",
    title: "Calendly",
    category: "calendars",
    sends: "Invitees that booked or cancelled, as JSON",
    setUp: "The API v2: create a webhook subscription with this URL and a signing_key of your own",
    signatureHeader: "Calendly-Webhook-Signature",
    verify: { scheme: "stripe", header: "Calendly-Webhook-Signature" },
    secretFrom: "The signing key you gave to the subscription, or that of your OAuth app",
    handshake: null,
    note: null,
    retries: "For up to 24 hours, with growing delays; then the subscription is disabled",
    timeout: "10 s to connect, 15 s to answer",
    documentation: "https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures",
    notReconciled: "Its API lists meetings by their start, not by when they were booked or cancelled.",
    source: {
      verify: "https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures",
      setUp: "https://developer.calendly.com/api-docs/overview/webhooks/webhook-signatures",
      retries: "https://developer.calendly.com/api-docs/overview/webhooks/webhook-errors",
      timeout: "https://developer.calendly.com/api-docs/overview/webhooks/webhook-timeouts.md",
      reconcile: "https://pipedream.com/apps/calendly-v2/actions/list-events",
    },
  },
  {
    id: "cal-com",
    title: "Cal.com",
    category: "calendars",
    sends: "Bookings that were created, moved, cancelled or ended, as JSON",
    setUp: "Cal.com, Settings, Developer, Webhooks: subscriber URL and secret",
    signatureHeader: "X-Cal-Signature-256",
    verify: { scheme: "hmac", header: "X-Cal-Signature-256", algorithm: "sha256", encoding: "hex", signed: "{raw}" },
    secretFrom: "The secret of the webhook",
    handshake: null,
    note: null,
    retries: null,
    timeout: null,
    documentation: "https://cal.com/docs/developing/guides/automation/webhooks",
    notReconciled: "Its API lists bookings in a different format than webhooks.",
    source: {
      verify: "https://github.com/calcom/cal.com/blob/main/packages/features/webhooks/lib/sendPayload.ts",
      reconcile: "https://cal.com/docs/api-reference/v2/bookings/get-all-bookings",
    },
  },
  {
    id: "google-calendar",
    title: "Google Calendar",
    category: "calendars",
    sends: "Notifications without a body that something changed in a calendar. Ask the API what changed",
    setUp: "The Calendar API: events.watch with this URL as address and a token of your own",
    signatureHeader: "X-Goog-Channel-Token",
    verify: { scheme: "header", header: "X-Goog-Channel-Token" },
    secretFrom: "The token you gave to events.watch",
    handshake: null,
    note: null,
    retries: null,
    timeout: null,
    documentation: "https://developers.google.com/workspace/calendar/api/guides/push",
    notReconciled: "A request says only that something changed. Ask the API what changed.",
    source: {
      verify: "https://developers.google.com/calendar/api/guides/push",
      setUp: "https://developers.google.com/calendar/api/guides/push",
      reconcile: "https://developers.google.com/calendar/api/guides/push",
    },
  },
  {
    id: "microsoft-graph",
    title: "Microsoft Graph",
    category: "calendars",
    sends: "Changes to mail, calendars, users, files and Teams, as JSON",
    setUp: "The Graph API: create a subscription with this URL as notificationUrl and a clientState of your own",
    signatureHeader: null,
    verify: null,
    secretFrom: "The clientState you gave to the subscription",
    handshake: { source: GRAPH },
    note: "Graph does not sign. Every notification contains the clientState of its subscription: set that as a secret of the handshake, and notifications with another one are refused.",
    retries: "For up to 4 hours",
    timeout: "3 s for notifications",
    documentation: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
    notReconciled: "Its API does not list notifications. Delta queries return the present state in a different format.",
    source: {
      verify: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
      handshake: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
      setUp: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
      retries: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
      timeout: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
      reconcile: "https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks",
    },
  },
];
