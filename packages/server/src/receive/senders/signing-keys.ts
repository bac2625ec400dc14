/**
 * Signing keys in memory: those that sign for each environment, in the order in which they are tried, and the key of a bearer token.
 *
 * Branch environments use the keys of the shared scope `branch`. A key without an environment is valid in every environment;
 * the environment's own keys are tried before it.
 */

import { createHash } from "node:crypto";
import { type EnvironmentId, type KeyId, signingKeyBearers } from "@inlet/protocol";
import type { Environment, Key } from "../../store/contract/index.ts";

/** A key that may sign. */
export interface SigningKey {
  id: KeyId;
  text: string;
  /** Null: valid in every environment. */
  environmentId: EnvironmentId | null;
}

export class SigningKeys {
  readonly #byEnvironment: ReadonlyMap<EnvironmentId, readonly SigningKey[]>;
  readonly #byBearerHash = new Map<string, Key>();

  /**
   * `keys` are those that are not revoked, oldest first. Keys are read beside environments: one may be newer than its environment is known.
   * It counts with the next read, because nobody could tell now what it may reach.
   */
  constructor(keys: readonly Key[], environments: readonly Environment[]) {
    const known = new Set<EnvironmentId | null>([null, ...environments.map(({ id }) => id)]);
    const signing = keys.filter(({ kind, secret, environmentId }) => kind === "signing" && secret !== null && known.has(environmentId));
    const newestFirst = signing.toReversed().map(({ id, secret, environmentId }) => ({ id, text: secret as string, environmentId }));
    const shared = environments.find(({ kind }) => kind === "shared");
    const of = (home: EnvironmentId | null) => newestFirst.filter(({ environmentId }) => environmentId === home);
    const everywhere = of(null);
    this.#byEnvironment = new Map(
      environments.map(({ id, kind }) => [id, [...of(kind === "branch" && shared ? shared.id : id), ...everywhere]]),
    );
    for (const key of signing) {
      for (const bearer of signingKeyBearers(key.secret as string)) {
        const hash = hashOf(bearer);
        // Two texts of one key have one bearer in common; the older is the key of it.
        if (!this.#byBearerHash.has(hash)) this.#byBearerHash.set(hash, key);
      }
    }
  }

  /** The environment's own keys, newest first, then those of every environment. */
  of(environmentId: EnvironmentId): readonly SigningKey[] {
    return this.#byEnvironment.get(environmentId) ?? [];
  }

  /** The token is hashed before it is looked up, so that timing reveals nothing about keys. */
  withBearer(bearer: string): Key | null {
    return this.#byBearerHash.get(hashOf(bearer)) ?? null;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
