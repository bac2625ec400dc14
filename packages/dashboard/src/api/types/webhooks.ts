/** Webhooks, their requests and trials, as the REST API responds with them. */

import type { JsonText } from "../json-text.ts";
import type { AcceptList } from "./access.ts";

export interface Webhook {
  id: string;
  name: string;
  environment: string;
  url: string;
  transform: string;
  eventNames: AcceptList | null;
  ips: AcceptList | null;
  enabled: boolean;
  verify: WebhookVerify | null;
  handshake: { preset?: string; source?: string; secrets?: ShownSecret[] } | null;
  answer: { status: number; contentType: string; body: string } | null;
  mirror: { to: string[]; sample: number } | null;
  reconcile: WebhookReconcile | null;
  state: "ready" | "waiting_for_secret";
  version: number;
  createdAt: string;
  updatedAt: string;
}

/** With the options of its preset. */
export interface WebhookReconcile {
  preset?: string;
  source?: string;
  every: string;
  lookBack: string;
  secrets: ShownSecret[];
  [option: string]: unknown;
}

/** Nothing is shown of a short secret. */
export interface ShownSecret {
  last4: string | null;
}

export interface WebhookVerify {
  scheme: string;
  toleranceSeconds: number;
  secrets: ShownSecret[];
  [field: string]: unknown;
}

export interface WebhookVersion {
  version: number;
  transform: string;
  createdAt: string;
  /** The key or person that saved it. */
  author: string | null;
  current: boolean;
}

export interface WebhookRequest {
  id: string;
  receivedAt: string;
  ip: string | null;
  method: string;
  headers: Record<string, string>;
  rawHeaders: string[];
  query: Record<string, string[]>;
  rawQuery: string;
  contentType: string | null;
  body: string | null;
  bodyBase64?: string;
  status: number;
  outcome: string;
  /** It was not received, but found in what the provider lists. */
  reconciled?: boolean;
  error?: string;
  eventId?: string;
  environment: string;
  transformVersion: number;
  durationMs: number;
  logs: string[];
}

export interface TestResult {
  ok: boolean;
  event: JsonText | null;
  /** The response of the handshake; there is then no event. */
  handshake: { status: number; contentType: string; headers: string[]; body: string } | null;
  /** The result of verification; null if there is none. */
  verification: { ok: boolean; reason?: string; header?: string; character?: number; byte?: number } | null;
  error: { code: string; message: string; line?: number; column?: number } | null;
  logs: string[];
  durationMs: number;
}

export type BacktestChange = "same" | "different" | "now_fails" | "now_works" | "still_fails";

export interface Backtest {
  version: number;
  summary: Record<BacktestChange, number>;
  requests: {
    requestId: string;
    receivedAt: string;
    change: BacktestChange;
    before: { event?: unknown; error?: { message: string } };
    after: { event?: unknown; error?: { message: string } };
    diff: { path: string; before?: unknown; after?: unknown }[];
  }[];
}

export interface Provider {
  id: string;
  title: string;
  sends: string;
  setUp: string;
  signatureHeader: string | null;
  category: string;
  /** Without secrets. */
  verify: { scheme: string } | null;
  secretFrom: string | null;
  handshake: { preset?: string; source?: string } | null;
  answer: Webhook["answer"];
  note: string | null;
  retries: string | null;
  timeout: string | null;
  documentation: string | null;
  /** The page that confirms each fact. */
  source: Record<string, string>;
  transform: string;
  fixtures: { title: string; headers: Record<string, string>; query: string; body: string }[];
}
