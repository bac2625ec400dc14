/** What the catalogue says of a provider. */

import type { WebhookHandshake, WebhookVerify } from "../../store/contract/index.ts";

export const CATEGORIES = [
  ...(["payments", "code", "chat", "commerce", "mail", "identity", "crm", "storage", "calendars", "forms", "work", "any"] as const),
] as const;
export type Category = (typeof CATEGORIES)[number];

/** What a public page can confirm of a provider. */
export const FACTS = ["verify", "handshake", "setUp", "retries", "timeout"] as const;
export type Fact = (typeof FACTS)[number];

export interface Provider {
  id: string;
  title: string;
  category: Category;
  /** What it sends, for a person choosing. */
  sends: string;
  /** Where to enter the webhook's URL at the provider. */
  setUp: string;
  /** The header with the signature or the credentials, in canonical form; null when there is none. */
  signatureHeader: string | null;
  /** How its requests are verified; null: by no scheme. Then a secret, where there is one, is for the handshake to check. */
  verify: Omit<WebhookVerify, "toleranceSeconds"> | null;
  /** Where the secret comes from; null: there is none, or the provider hands it over. */
  secretFrom: string | null;
  handshake: WebhookHandshake | null;
  /** What else to know. */
  note: string | null;
  /** When a request that failed is sent again; null: not documented. */
  retries: string | null;
  /** How long it waits for an answer; null: not documented. */
  timeout: string | null;
  documentation: string | null;
  /** The public page that each fact was checked against. A fact without one was not checked; `retries` and `timeout` always have one. */
  source: Readonly<Partial<Record<Fact, string>>>;
}
