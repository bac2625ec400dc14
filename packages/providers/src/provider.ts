/** The catalogue entry of a provider. */

import type { ReconcilePreset, WebhookAnswer, WebhookHandshake, WebhookVerify } from "@inlet/protocol";

export const CATEGORIES = [
  ...(["payments", "code", "chat", "commerce", "mail", "identity", "crm", "storage", "calendars", "forms", "work", "any"] as const),
] as const;
export type Category = (typeof CATEGORIES)[number];

/** Facts about a provider that a public page can confirm. */
export const FACTS = ["verify", "handshake", "setUp", "retries", "timeout", "reconcile"] as const;
export type Fact = (typeof FACTS)[number];

export interface Provider {
  id: string;
  title: string;
  category: Category;
  /** What it sends, to help people choose. */
  sends: string;
  /** Where to enter the webhook's URL at the provider. */
  setUp: string;
  /** The header with the signature or the credentials, in canonical form; null if there is none. */
  signatureHeader: string | null;
  /** How its requests are verified; null: by no scheme. A secret, if any, is then checked by the handshake. */
  verify: Omit<WebhookVerify, "toleranceSeconds"> | null;
  /** Where to find the secret; null: there is none, or the provider sends it. */
  secretFrom: string | null;
  handshake: WebhookHandshake | null;
  /** What it takes for a response to an accepted request; absent: the ids are good. */
  answer?: WebhookAnswer;
  /** Further notes. */
  note: string | null;
  /** When a failed request is retried; null: not documented. */
  retries: string | null;
  /** How long it waits for a response; null: not documented. */
  timeout: string | null;
  documentation: string | null;
  /** The preset that compares what its API lists with what was received; absent: none is offered. */
  reconcile?: ReconcilePreset;
  /** Why none is offered: what its API lists is not what its webhooks send. */
  notReconciled?: string;
  /** The public page that confirms each fact. A fact without one was not checked; `retries`, `timeout` and `reconcile` always have one,
   * where nothing is offered to reconcile with, the page on which it would stand. */
  source: Readonly<Partial<Record<Fact, string>>>;
}
