/**
 * Environments, keys and webhooks in memory, so that recognising a sender costs no query.
 * Refreshed from the store at start and after every change, before the change is answered: a revoked key stops working at once.
 */

import { createHash } from "node:crypto";
import { type EnvironmentId, isBearerOf } from "@inlet/protocol";
import type {
  Environment,
  EnvironmentStore,
  EventSource,
  Key,
  KeyKind,
  KeyStore,
  Webhook,
  WebhookStore,
} from "../../store/contract/index.ts";

/** Stands for whatever text a sender put where a dev server asks for no key. */
export const PLACEHOLDER_KEY_ID = "placeholder";

/** A webhook as its URL leads to it. */
export interface WebhookTarget {
  webhook: Webhook;
  /** False when the webhook is disabled or deleted, or the URL was rotated away. */
  isOpen: boolean;
  /** Names this text of its transform. Kept here, because one made for each request would be hashed anew for each. */
  versionKey: string;
}

export type DirectoryStore = EnvironmentStore & KeyStore & WebhookStore;

export class Directory {
  readonly #store: DirectoryStore;
  #environments = new Map<EnvironmentId, Environment>();
  #environmentsByName = new Map<string, Environment>();
  #keys: Key[] = [];
  #keysByHash = new Map<string, Key>();
  #signingKeys: string[] = [];
  #eventKeysByText = new Map<string, Key>();
  #webhooks: Webhook[] = [];
  #webhooksByToken = new Map<string, WebhookTarget>();
  #looks = 0;
  #shownLook = 0;

  constructor(store: DirectoryStore) {
    this.#store = store;
  }

  /** What was read before a change must not undo it: a look that is overtaken by a later one is forgotten. */
  async refresh(): Promise<void> {
    const look = ++this.#looks;
    const [environments, keys, webhooks, retired] = await Promise.all([
      this.#store.environmentList(),
      this.#store.keyList(),
      this.#store.webhookList(),
      this.#store.webhookRetiredTokenList(),
    ]);
    if (look < this.#shownLook) return;
    this.#shownLook = look;
    this.#environments = new Map(environments.map((environment) => [environment.id, environment]));
    this.#environmentsByName = new Map(environments.map((environment) => [environment.name, environment]));
    this.#keys = keys;
    this.#keysByHash = new Map(keys.filter((key) => key.revokedAt === null).map((key) => [`${key.kind} ${key.hash}`, key]));
    this.#signingKeys = this.keys().flatMap(({ kind, secret }) => (kind === "signing" && secret !== null ? [secret] : []));
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

  /** Keys that work, oldest first. */
  keys(): Key[] {
    return this.#keys.filter((key) => key.revokedAt === null);
  }

  /** The texts of those that calls to apps may be signed with, oldest first. Asked for by every call. */
  signingKeys(): readonly string[] {
    return this.#signingKeys;
  }

  /** The signing key that this bearer text belongs to, or null. */
  signingKeyOf(bearer: string): Key | null {
    return this.keys().find(({ kind, secret }) => kind === "signing" && secret !== null && isBearerOf(secret, bearer)) ?? null;
  }

  /** The key with this id, unless it was revoked. */
  workingKey(id: Key["id"]): Key | null {
    return this.#keys.find((key) => key.id === id && key.revokedAt === null) ?? null;
  }

  /**
   * The event key with this text, or null. Called for every request: a key that was used before costs one look-up. Unknown texts are not
   * remembered, or whoever sends many of them would fill the memory.
   */
  eventKey(text: string): Key | null {
    const known = this.#eventKeysByText.get(text);
    if (known !== undefined) return known;
    const key = this.key("event", text);
    if (key) this.#eventKeysByText.set(text, key);
    return key;
  }

  /** The text is hashed before it is looked up, so that timing tells nothing about keys. */
  key(kind: KeyKind, text: string): Key | null {
    return this.#keysByHash.get(`${kind} ${hashKey(text)}`) ?? null;
  }

  /** The webhook whose URL ends in this token, now or in the past. */
  webhookWithToken(token: string): WebhookTarget | null {
    return this.#webhooksByToken.get(token) ?? null;
  }

  /** The tokens this webhook's URLs end or ended in. */
  tokensOf(id: string): string[] {
    return [...this.#webhooksByToken].filter(([, { webhook }]) => webhook.id === id).map(([token]) => token);
  }

  /** Webhooks that were not deleted, oldest first. */
  webhooks(): Webhook[] {
    return this.#webhooks.filter(({ deletedAt }) => deletedAt === null);
  }

  /** The name people gave the source of an event. */
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
