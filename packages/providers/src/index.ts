/**
 * The catalogue of providers: what each sends, how it is verified and where its URL is entered (catalogue/), with a starter transform. Each
 * folder of starters/ has `transform.js`, a file to copy and change, and `fixtures.json`, requests based on the provider's public documentation
 * with the event each becomes. A test signs them all, verifies them and runs them in the real sandbox.
 */

import { readFile } from "node:fs/promises";
import { CALENDARS } from "./catalogue/calendars.ts";
import { CHAT } from "./catalogue/chat.ts";
import { CODE } from "./catalogue/code.ts";
import { COMMERCE } from "./catalogue/commerce.ts";
import { CRM } from "./catalogue/crm.ts";
import { FORMS } from "./catalogue/forms.ts";
import { IDENTITY } from "./catalogue/identity.ts";
import { MAIL } from "./catalogue/mail.ts";
import { PAYMENTS } from "./catalogue/payments.ts";
import { STORAGE } from "./catalogue/storage.ts";
import { WORK } from "./catalogue/work.ts";
import type { Provider } from "./provider.ts";

export { CATEGORIES, type Category, FACTS, type Fact, type Provider } from "./provider.ts";

const GENERIC: Provider = {
  id: "generic",
  title: "Any provider",
  category: "any",
  sends: "Anything. A starting point for your own transform, complete for providers that follow Standard Webhooks",
  setUp: "Wherever the provider asks for a webhook URL",
  signatureHeader: "Webhook-Signature",
  verify: { scheme: "standard-webhooks" },
  secretFrom: "The secret of the endpoint, whsec_…, which the provider shows",
  handshake: null,
  note: null,
  retries: null,
  timeout: null,
  documentation: "https://www.standardwebhooks.com",
  source: {},
};

export const PROVIDERS: readonly Provider[] = [
  ...PAYMENTS,
  ...CODE,
  ...CHAT,
  ...COMMERCE,
  ...MAIL,
  ...IDENTITY,
  ...CRM,
  ...STORAGE,
  ...CALENDARS,
  ...FORMS,
  ...WORK,
  GENERIC,
];

/** A request, and the event it becomes. In the event, `{{raw}}` stands for the request's body. */
export interface ProviderFixture {
  title: string;
  request: {
    headers: Record<string, string>;
    query?: string;
    /** A JSON value, sent as JSON.stringify writes it, or a text. */
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

/** Every provider with its transform and its complete sample requests. */
export function readProviderTemplates() {
  return Promise.all(
    PROVIDERS.map(async ({ notReconciled: _, ...provider }) => {
      const fixtures = await readProviderFixtures(provider.id);
      return {
        ...provider,
        answer: provider.answer ?? null,
        reconcile: provider.reconcile ?? null,
        transform: await readProviderTransform(provider.id),
        fixtures: fixtures.map(({ title, request: { headers, query = "", json, text } }) => {
          return { title, headers, query, body: text ?? JSON.stringify(json, null, 2) };
        }),
      };
    }),
  );
}

/** Only listed names can select a file. */
function fileOf(id: string, name: string): URL {
  if (!PROVIDERS.some((provider) => provider.id === id)) throw new Error(`there is no provider "${id}"`);
  return new URL(`./starters/${id}/${name}`, import.meta.url);
}
