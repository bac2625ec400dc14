/** Webhooks: URLs that turn requests into events, with the versions of their transforms and the tokens of their URLs. */

import type {
  AcceptList,
  EnvironmentId,
  HandshakePreset,
  WebhookAnswer,
  WebhookHandshake,
  WebhookId,
  WebhookVerify,
} from "@inlet/protocol";

/** Branch environments that receive copies of accepted events, and the fraction that is copied. */
export interface WebhookMirror {
  to: readonly string[];
  sample: number;
}

/** How what the provider lists is compared with what was received: by a preset, or by two functions in `source`. */
export interface WebhookReconcile {
  preset?: string;
  source?: string;
  /** Durations as given, such as `15m`. */
  every: string;
  lookBack: string;
  /** When it was set or changed: the first pass comes one `every` later. */
  setAt: number;
  /** What the preset needs: names and values as given. */
  options: Readonly<Record<string, string | readonly string[]>>;
}

export interface WebhookSecrets {
  verify: readonly string[];
  /** Null: the secrets of `verify`. */
  handshake: readonly string[] | null;
  /** The provider has sent a secret since the handshake was set. */
  isHandedOver: boolean;
  /** For requests to the provider's API. */
  reconcile: readonly string[];
}

export const NO_SECRETS: WebhookSecrets = { verify: [], handshake: null, isHandedOver: false, reconcile: [] };
export const SECRETS_MAX = 4;

export interface Webhook {
  id: WebhookId;
  /** An environment, or the shared scope of all branches. */
  environmentId: EnvironmentId;
  name: string;
  /** The secret part of its URL. */
  token: string;
  /** The current transform and its version. */
  transform: string;
  version: number;
  eventNames: AcceptList | null;
  ips: AcceptList | null;
  verify: WebhookVerify | null;
  handshake: WebhookHandshake | null;
  answer: WebhookAnswer | null;
  mirror: WebhookMirror | null;
  reconcile: WebhookReconcile | null;
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
  /** The name of the key or person that saved it; null if that is not known. */
  author: string | null;
}

/** A secret that the provider sent, and the preset of the handshake that took it. */
export interface HandedOver {
  preset: HandshakePreset;
  secret: string;
}

export interface WebhookChanges {
  name?: string;
  /** A new source becomes a new version, which is current at once. */
  transform?: string;
  /** Makes an older version current again. */
  version?: number;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
  /** Null also deletes its secrets. */
  verify?: WebhookVerify | null;
  handshake?: WebhookHandshake | null;
  answer?: WebhookAnswer | null;
  mirror?: WebhookMirror | null;
  /** Null also deletes its secrets. */
  reconcile?: WebhookReconcile | null;
  /** Absent fields stay unchanged. */
  secrets?: Partial<Pick<WebhookSecrets, "verify" | "handshake" | "reconcile">>;
  /** Added, unless another handshake is in force, one was added since the handshake was set, or there are too many. */
  handedOver?: HandedOver;
  enabled?: boolean;
}

/** A token that is no longer valid for its webhook. */
export interface RetiredToken {
  token: string;
  webhookId: WebhookId;
}

/** Identifies a webhook: its id is unique in the whole store, the environment says where to look. */
export interface WebhookKey {
  environmentId: EnvironmentId;
  id: WebhookId;
}

export interface WebhookStore {
  /** Every webhook, including deleted ones: they still name the source of their events. Oldest first. */
  webhookList(): Promise<Webhook[]>;
  webhookRetiredTokenList(): Promise<RetiredToken[]>;
  /** `author`: of the first version. */
  webhookInsert(params: Omit<Webhook, "version" | "updatedAt" | "deletedAt"> & { author?: string }): Promise<Webhook>;
  /** Null if there is no such webhook or version. `author`: of a new version. */
  webhookUpdate(params: WebhookKey & { changes: WebhookChanges; updatedAt: number; author?: string }): Promise<Webhook | null>;
  /** Retires the current token and replaces it with `token`. */
  webhookRotate(params: WebhookKey & { token: string; rotatedAt: number }): Promise<Webhook | null>;
  webhookDelete(params: WebhookKey & { deletedAt: number }): Promise<Webhook | null>;
  /** Newest first. */
  webhookVersionList(params: WebhookKey): Promise<WebhookVersion[]>;
}
