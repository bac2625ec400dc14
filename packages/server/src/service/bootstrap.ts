/**
 * Creates what must exist before the service starts: the default environment, the shared scope of branch environments and the configured
 * keys; and, once it listens, at least one key of each kind if keys are required. Runs at every start and changes nothing that exists.
 */

import { BRANCH_SCOPE, isSigningKey } from "@inlet/protocol";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { adoptKey, type IssuedKey, issueKey } from "../receive/senders/issue-key.ts";
import type { Environment, EnvironmentKind, Key, KeyKind, Store } from "../store/contract/index.ts";

/** A key that was just generated; its text is shown once. */
export interface NewKey {
  kind: KeyKind;
  /** Null for API keys. */
  environment: string | null;
  text: string;
}

export function defaultEnvironmentOf(config: Config): string {
  return config.mode === "dev" ? "dev" : "production";
}

/** Returns the function that creates the missing keys. Their texts are shown once: it is called when nothing can keep them from being shown. */
export async function bootstrap(store: Store, config: Config, log: Logger, now: () => number): Promise<() => Promise<NewKey[]>> {
  const environment = await ensureEnvironment(store, defaultEnvironmentOf(config), "default", now);
  const shared = await ensureEnvironment(store, BRANCH_SCOPE, "shared", now);
  const keys = await retireUnusable(store, log, now);

  // One after the other: of several signing keys the last one signs.
  const adopt = async (kind: KeyKind, texts: readonly string[], home: Environment | null) => {
    for (const text of texts) await insertKey(store, kind, adoptKey(kind, text), home, "configured", now);
  };
  await Promise.all([
    adopt("event", config.eventKey, environment),
    adopt("signing", config.signingKey, null),
    adopt("api", config.apiKey, null),
  ]);
  if (config.mode === "dev") return async () => [];

  // Revoked keys count: an operator who revoked the last key did not ask for a new one. Keys that were retired here do not count.
  const missing = (kind: KeyKind, home: Environment | null, configured: readonly string[] = []) =>
    configured.length === 0 && !keys.some((key) => key.kind === kind && key.environmentId === (home?.id ?? null));
  // A key of every environment signs for these two as well.
  const missingSigning = (home: Environment) => missing("signing", home, config.signingKey) && missing("signing", null);
  tellHowToMove(keys, config, log);
  const wanted: [KeyKind, Environment | null, boolean][] = [
    ["event", environment, missing("event", environment, config.eventKey)],
    ["event", shared, missing("event", shared)],
    ["signing", environment, missingSigning(environment)],
    ["signing", shared, missingSigning(shared)],
    ["api", null, missing("api", null, config.apiKey)],
  ];
  return async () => {
    const created: NewKey[] = [];
    for (const [kind, home] of wanted.filter(([, , isMissing]) => isMissing)) {
      const issued = issueKey(kind, home?.name ?? null);
      await insertKey(store, kind, issued, home, "first start", now);
      created.push({ kind, environment: home?.name ?? null, text: issued.text });
    }
    return created;
  };
}

/** A key that the settings name is for every environment by choice. */
function tellHowToMove(keys: readonly Key[], config: Config, log: Logger): void {
  const left = keys.filter(
    ({ kind, environmentId, revokedAt, secret }) =>
      kind === "signing" && environmentId === null && revokedAt === null && !config.signingKey.includes(secret ?? ""),
  );
  for (const { id, name } of left) {
    log.info(
      { key: id, name },
      "this signing key is valid in every environment: to give each environment its own, see docs/how-to/keys-and-rotation.md; inlet doctor lists the apps that use it",
    );
  }
}

/** Revokes signing keys that are not hexadecimal: anyone who knows their hash could impersonate an app. Returns the other keys. */
async function retireUnusable(store: Store, log: Logger, now: () => number): Promise<Key[]> {
  const keys = await store.keyList();
  const unusable = keys.filter(({ kind, secret }) => kind === "signing" && !isSigningKey(secret ?? ""));
  for (const { id, name, revokedAt } of unusable) {
    if (revokedAt !== null) continue;
    await store.keyRevoke({ id, revokedAt: now() });
    log.error({ key: id, name }, "a signing key that is not hexadecimal protects nothing and was revoked: use another one for the apps");
  }
  return keys.filter((key) => !unusable.includes(key));
}

async function ensureEnvironment(store: Store, name: string, kind: EnvironmentKind, now: () => number): Promise<Environment> {
  const find = async () => (await store.environmentList()).find((environment) => environment.name === name);
  const found = (await find()) ?? (await store.environmentInsert({ name, kind, createdAt: now(), bodyBytesMax: null })) ?? (await find());
  if (!found) throw new Error(`the environment ${name} can neither be found nor made`);
  return found;
}

/** An existing key with the same text, revoked or not, is not changed. */
function insertKey(
  store: Store,
  kind: KeyKind,
  issued: IssuedKey,
  home: Environment | null,
  name: string,
  now: () => number,
): Promise<Key | null> {
  return store.keyInsert({
    ...issued.key,
    kind,
    name,
    environmentId: home?.id ?? null,
    role: kind === "api" ? "admin" : null,
    environments: null,
    eventNames: null,
    ips: null,
    createdAt: now(),
  });
}
