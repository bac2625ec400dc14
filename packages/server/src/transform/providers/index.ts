/**
 * Starter transforms for well-known providers. Each folder has `transform.js`, a file to copy and change, and `fixtures.json`, requests
 * written after the provider's public documentation with the event each becomes. A test runs them all in the real sandbox.
 */

import { readFile } from "node:fs/promises";

export interface Provider {
  id: string;
  title: string;
  /** What it sends, for a person choosing. */
  sends: string;
  /** Where to enter the webhook's URL at the provider. */
  setUp: string;
  /** The header with the signature, in canonical form; null when requests are not signed in a way we know. */
  signatureHeader: string | null;
}

export const PROVIDERS: readonly Provider[] = [
  {
    id: "stripe",
    title: "Stripe",
    sends: "Payments, invoices, subscriptions and everything else in Stripe's event types, as JSON",
    setUp: "Stripe Dashboard, Developers, Webhooks: add an endpoint and choose the events",
    signatureHeader: "Stripe-Signature",
  },
  {
    id: "github",
    title: "GitHub",
    sends: "Pushes, pull requests, issues, releases and other repository or organisation events, as JSON or a form",
    setUp: "Repository or organisation settings, Webhooks: add the URL as payload URL",
    signatureHeader: "X-Hub-Signature-256",
  },
  {
    id: "slack",
    title: "Slack",
    sends: "Events of the Events API as JSON, interactions and slash commands as forms",
    setUp:
      "The app's settings: Interactivity or Slash Commands. Event Subscriptions first asks the URL to echo a challenge, which a webhook does not do",
    signatureHeader: "X-Slack-Signature",
  },
  {
    id: "shopify",
    title: "Shopify",
    sends: "Orders, products, customers and other topics of a shop, as JSON",
    setUp: "Shopify admin, Settings, Notifications, Webhooks, or a subscription of your app",
    signatureHeader: "X-Shopify-Hmac-Sha256",
  },
  {
    id: "clerk",
    title: "Clerk",
    sends: "Users, sessions and organisations that were created, changed or deleted, as JSON through Svix",
    setUp: "Clerk Dashboard, Configure, Webhooks: add an endpoint",
    signatureHeader: "Svix-Signature",
  },
  {
    id: "twilio",
    title: "Twilio",
    sends: "Incoming messages and calls, and their changes of status, as a form",
    setUp: "Twilio Console, the phone number or messaging service: webhook URL or status callback",
    signatureHeader: "X-Twilio-Signature",
  },
  {
    id: "sendgrid",
    title: "SendGrid",
    sends: "What happened to mails (delivered, opened, bounced, …), many in one request, as a JSON array",
    setUp: "SendGrid, Settings, Mail Settings, Event Webhooks",
    signatureHeader: "X-Twilio-Email-Event-Webhook-Signature",
  },
  {
    id: "linear",
    title: "Linear",
    sends: "Issues, comments, projects and other data that was created, changed or removed, as JSON",
    setUp: "Linear, Settings, API, Webhooks",
    signatureHeader: "Linear-Signature",
  },
  {
    id: "generic",
    title: "Any provider",
    sends: "Anything: a place to start from, complete for providers that follow Standard Webhooks",
    setUp: "Wherever the provider asks for a webhook URL",
    signatureHeader: "Webhook-Signature",
  },
];

/** A request, and the event it becomes. In the event, the text `{{raw}}` stands for the request's body. */
export interface ProviderFixture {
  title: string;
  request: {
    headers: Record<string, string>;
    query?: string;
    /** A JSON value, sent as JSON writes it, or else a text. */
    json?: unknown;
    text?: string;
  };
  event: Record<string, unknown>;
}

export function readProviderTransform(id: string): Promise<string> {
  return readFile(fileOf(id, "transform.js"), "utf8");
}

export async function readProviderFixtures(id: string): Promise<ProviderFixture[]> {
  return JSON.parse(await readFile(fileOf(id, "fixtures.json"), "utf8"));
}

/** Every provider with its transform and its requests as they would come in, for whoever starts from one. */
export function readProviderTemplates() {
  return Promise.all(
    PROVIDERS.map(async (provider) => {
      const fixtures = await readProviderFixtures(provider.id);
      return {
        ...provider,
        transform: await readProviderTransform(provider.id),
        fixtures: fixtures.map(({ title, request: { headers, query = "", json, text } }) => {
          return { title, headers, query, body: text ?? JSON.stringify(json, null, 2) };
        }),
      };
    }),
  );
}

/** Only names in the list lead to a file. */
function fileOf(id: string, name: string): URL {
  if (!PROVIDERS.some((provider) => provider.id === id)) throw new Error(`there is no provider "${id}"`);
  return new URL(`./${id}/${name}`, import.meta.url);
}
