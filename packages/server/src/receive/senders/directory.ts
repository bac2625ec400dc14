/**
 * Environments, keys and webhooks in memory, so that identifying a sender needs no query.
 * Refreshed from the store at start and after every change, before the change is acknowledged: a revoked key stops working at once.
 */

import { createHash } from "node:crypto";
import type { EnvironmentId } from "@inlet/protocol";
import {
  type Environment,
  type EnvironmentStore,
  type EventSource,
  type Key,
  type KeyKind,
  type KeyStore,
  sharedRefresh,
  type Webhook,
  type WebhookStore,
} from "../../store/contract/index.ts";
import { type SigningKey, SigningKeys } from "./signing-keys.ts";

/** Represents any key on a dev server, which requires none. */
export const PLACEHOLDER_KEY_ID = "placeholder";

/** A webhook as found by its URL. */
export interface WebhookTarget {
  webhook: Webhook;
  /** False if the webhook is disabled or deleted, or the URL was rotated. */
  isOpen: boolean;
  /** Identifies this source of its transform. Cached, because a new string per request would be hashed again each time. */
  versionKey: string;
}

export type DirectoryStore = EnvironmentStore & KeyStore & WebhookStore;

export class Directory {
  readonly #store: DirectoryStore;
  #environments = new Map<EnvironmentId, Environment>();
  #environmentsByName = new Map<string, Environment>();
  #keys: Key[] = [];
  #keysByHash = new Map<string, Key>();
  #revokedHashes: ReadonlySet<string> = new Set();
  #signingKeys = new SigningKeys([], []);
  #eventKeysByText = new Map<string, Key>();
  #webhooks: Webhook[] = [];
  #webhooksByToken = new Map<string, WebhookTarget>();
  readonly #listeners = new Set<() => void>();

  constructor(store: DirectoryStore) {
    this.#store = store;
  }

  /** Reads follow one another: one that began before a change cannot undo it. */
  readonly refresh = sharedRefresh(() => this.#readAll());

  async #readAll(): Promise<void> {
    const [environments, keys, webhooks, retired] = await Promise.all([
      this.#store.environmentList(),
      this.#store.keyList(),
      this.#store.webhookList(),
      this.#store.webhookRetiredTokenList(),
    ]);
    this.#environments = new Map(environments.map((environment) => [environment.id, environment]));
    this.#environmentsByName = new Map(environments.map((environment) => [environment.name, environment]));
    this.#keys = keys;
    this.#keysByHash = new Map(keys.filter((key) => key.revokedAt === null).map((key) => [`${key.kind} ${key.hash}`, key]));
    this.#revokedHashes = new Set(keys.filter((key) => key.revokedAt !== null).map((key) => `${key.kind} ${key.hash}`));
    this.#signingKeys = new SigningKeys(this.keys(), environments);
    this.#eventKeysByText = new Map();
    this.#webhooks = webhooks;
    const byId = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
    const isOpen = ({ enabled, deletedAt }: Webhook) => enabled && deletedAt === null;
    this.#webhooksByToken = new Map([
      ...webhooks.map((webhook): [string, WebhookTarget] => [webhook.token, target(webhook, isOpen(webhook))]),
      ...retired.flatMap(({ token, webhookId }): [string, WebhookTarget][] => {
        const webhook = byId.get(webhookId);
        return webhook ? [[token, target(webhook, false)]] : [];
      }),
    ]);
    for (const listener of this.#listeners) listener();
  }

  onRefresh(listener: () => void): void {
    this.#listeners.add(listener);
  }

  environments(): Environment[] {
    return [...this.#environments.values()];
  }

  environmentNamed(name: string): Environment | undefined {
    return this.#environmentsByName.get(name);
  }

  environment(id: EnvironmentId): Environment | undefined {
    return this.#environments.get(id);
  }

  /** Valid keys, oldest first. */
  keys(): Key[] {
    return this.#keys.filter((key) => key.revokedAt === null);
  }

  /** The keys that sign for this environment, in the order in which they are tried. Used by every call. */
  signingKeys(environmentId: EnvironmentId): readonly SigningKey[] {
    return this.#signingKeys.of(environmentId);
  }

  /** The signing key of this bearer token, or null. */
  signingKeyOf(bearer: string): Key | null {
    return this.#signingKeys.withBearer(bearer);
  }

  /** The key with this id, unless it is revoked. */
  workingKey(id: Key["id"]): Key | null {
    return this.#keys.find((key) => key.id === id && key.revokedAt === null) ?? null;
  }

  /**
   * The event key with this text, or null. Called for every request: a key that was used before costs one lookup. Unknown texts are not
   * cached: a client that sends many of them would fill the memory.
   */
  eventKey(text: string): Key | null {
    const known = this.#eventKeysByText.get(text);
    if (known !== undefined) return known;
    const key = this.key("event", text);
    if (key) this.#eventKeysByText.set(text, key);
    return key;
  }

  /** The text is hashed before it is looked up, so that timing reveals nothing about keys. */
  key(kind: KeyKind, text: string): Key | null {
    return this.#keysByHash.get(`${kind} ${hashKey(text)}`) ?? null;
  }

  /** Whether a key with this text was revoked. */
  isRevoked(kind: KeyKind, text: string): boolean {
    return this.#revokedHashes.has(`${kind} ${hashKey(text)}`);
  }

  /** The webhook of this token, current or retired. */
  webhookWithToken(token: string): WebhookTarget | null {
    return this.#webhooksByToken.get(token) ?? null;
  }

  /** The current and retired tokens of this webhook. */
  tokensOf(id: string): string[] {
    return [...this.#webhooksByToken].filter(([, { webhook }]) => webhook.id === id).map(([token]) => token);
  }

  /** Webhooks that are not deleted, oldest first. */
  webhooks(): Webhook[] {
    return this.#webhooks.filter(({ deletedAt }) => deletedAt === null);
  }

  /** The display name of the source of an event. */
  sourceName(source: EventSource): string {
    if (source.id === PLACEHOLDER_KEY_ID) return "any key (dev)";
    const sources: readonly { id: string; name: string }[] = source.kind === "webhook" ? this.#webhooks : this.#keys;
    return sources.find(({ id }) => id === source.id)?.name ?? source.id;
  }
}

function target(webhook: Webhook, isOpen: boolean): WebhookTarget {
  return { webhook, isOpen, versionKey: `${webhook.id}@${webhook.version}` };
}

export function hashKey(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
