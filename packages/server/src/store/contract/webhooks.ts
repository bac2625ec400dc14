/** Webhooks: consumers with a URL of their own, the versions of their transforms, and the tokens their URLs had. */

import type { AcceptList, EnvironmentId, WebhookId } from "@inlet/protocol";

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
