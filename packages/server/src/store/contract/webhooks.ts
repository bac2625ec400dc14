/** Webhooks: consumers with a URL of their own, the versions of their transforms, and the tokens their URLs had. */

import type { AcceptList, EnvironmentId, WebhookId } from "@inlet/protocol";

// biome-ignore format: one line is easier to read
export const VERIFY_SCHEMES = ["standard-webhooks", "stripe", "github", "shopify", "slack", "twilio", "linear", "hmac", "basic", "header"] as const;
export type VerifyScheme = (typeof VERIFY_SCHEMES)[number];

/** How requests are verified before the transform. The secrets are kept apart (WebhookSecrets). */
export interface WebhookVerify {
  scheme: VerifyScheme;
  toleranceSeconds: number;
  /** `hmac`, `header` and, where the provider uses another name, `stripe`. */
  header?: string;
  algorithm?: "sha1" | "sha256" | "sha512";
  prefix?: string;
  encoding?: "hex" | "base64";
  /** What is signed: a template of `{raw}`, `{timestamp}`, `{url}` and `{header:Name}`. */
  signed?: string;
  timestampHeader?: string;
  /** `basic` only. */
  user?: string;
}

export const HANDSHAKE_PRESETS = ["slack", "meta", "microsoft-graph", "x", "dropbox", "zoom", "okta", "asana"] as const;
export type HandshakePreset = (typeof HANDSHAKE_PRESETS)[number];

/** How a provider's question whether the URL is ours is answered. */
export type WebhookHandshake = { preset: HandshakePreset } | { source: string };

/** What an accepted request is answered with instead of the ids. */
export interface WebhookAnswer {
  status: number;
  contentType: string;
  body: string;
}

/** Branch environments that get a copy of accepted events, and the part of them that is copied. */
export interface WebhookMirror {
  to: readonly string[];
  sample: number;
}

export interface WebhookSecrets {
  verify: readonly string[];
  /** Null: those of `verify`. */
  handshake: readonly string[] | null;
  /** The provider has handed a secret over since the handshake was set. */
  isHandedOver: boolean;
}

export const NO_SECRETS: WebhookSecrets = { verify: [], handshake: null, isHandedOver: false };
export const SECRETS_MAX = 4;

export interface Webhook {
  id: WebhookId;
  /** An environment, or the shared scope of all branches. */
  environmentId: EnvironmentId;
  name: string;
  /** The secret end of its URL. */
  token: string;
  /** The transform in force, and its version. */
  transform: string;
  version: number;
  eventNames: AcceptList | null;
  ips: AcceptList | null;
  verify: WebhookVerify | null;
  handshake: WebhookHandshake | null;
  answer: WebhookAnswer | null;
  mirror: WebhookMirror | null;
  secrets: WebhookSecrets;
  enabled: boolean;
  createdAt: number;
  updatedAt: number;
  deletedAt: number | null;
}

export interface WebhookVersion {
  version: number;
  transform: string;
  createdAt: number;
}

export interface WebhookChanges {
  name?: string;
  /** A new text becomes a new version, which is in force at once. */
  transform?: string;
  /** An older version is put in force again. */
  version?: number;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
  /** Null forgets its secrets too. */
  verify?: WebhookVerify | null;
  handshake?: WebhookHandshake | null;
  answer?: WebhookAnswer | null;
  mirror?: WebhookMirror | null;
  /** What is not given is kept. */
  secrets?: Partial<Pick<WebhookSecrets, "verify" | "handshake">>;
  /** A secret that the provider handed over: added, unless one was since the handshake was set, or there are too many. */
  handedOver?: string;
  enabled?: boolean;
}

/** A token that no longer opens its webhook. */
export interface RetiredToken {
  token: string;
  webhookId: WebhookId;
}

/** What a webhook is found by: its id is its own in the whole store, the environment says where to look. */
export interface WebhookKey {
  environmentId: EnvironmentId;
  id: WebhookId;
}

export interface WebhookStore {
  /** Every webhook, deleted ones too: they still name the source of their events. Oldest first. */
  webhookList(): Promise<Webhook[]>;
  webhookRetiredTokenList(): Promise<RetiredToken[]>;
  webhookInsert(params: Omit<Webhook, "version" | "updatedAt" | "deletedAt">): Promise<Webhook>;
  /** Null when there is no such webhook, or no such version. */
  webhookUpdate(params: WebhookKey & { changes: WebhookChanges; updatedAt: number }): Promise<Webhook | null>;
  /** The token now in use is retired, `token` takes its place. */
  webhookRotate(params: WebhookKey & { token: string; rotatedAt: number }): Promise<Webhook | null>;
  webhookDelete(params: WebhookKey & { deletedAt: number }): Promise<Webhook | null>;
  /** Newest first. */
  webhookVersionList(params: WebhookKey): Promise<WebhookVersion[]>;
}
