/** Generates keys. Only the hash of a key is stored (except for signing keys), so the text returned here is the only copy. */

import { randomBytes } from "node:crypto";
import { createEventIdGenerator, type KeyId } from "@inlet/protocol";
import type { Key, KeyKind } from "../../store/contract/index.ts";
import { hashKey } from "./directory.ts";

export interface IssuedKey {
  text: string;
  key: Pick<Key, "id" | "hash" | "prefix" | "secret">;
}

/** The prefix of a key shows its kind to people and secret scanners. Published SDKs expect that of signing keys: `signkey-<environment>-`. */
const BEGINNINGS: Readonly<Record<KeyKind, (environment: string) => string>> = {
  event: () => "evk_",
  api: () => "ak_",
  signing: (environment) => `signkey-${environment.replace(/[^a-z0-9]/g, "") || "env"}-`,
};
const SECRET_BYTES = 24;
/** SDKs read signing keys as hexadecimal; they are as long as the hash they are used with. */
const SIGNING_SECRET_BYTES = 32;
const SHOWN_CHARACTERS = 4;

const keyIds = createEventIdGenerator();

/** `environment` is the environment that a signing key is named after, absent if it is for all of them. */
export function issueKey(kind: KeyKind, environment: string | null = null): IssuedKey {
  const secret = randomBytes(kind === "signing" ? SIGNING_SECRET_BYTES : SECRET_BYTES).toString("hex");
  const beginning = BEGINNINGS[kind](environment ?? "prod");
  return describeKey(kind, beginning + secret, beginning.length + SHOWN_CHARACTERS);
}

/** A key whose text was chosen by a person: of a short one, almost nothing may be shown. */
export function adoptKey(kind: KeyKind, text: string): IssuedKey {
  return describeKey(kind, text, Math.min(SHOWN_CHARACTERS, Math.floor(text.length / 4)));
}

function describeKey(kind: KeyKind, text: string, shownCharacters: number): IssuedKey {
  const id = `key_${keyIds.next(Date.now())}` as KeyId;
  return { text, key: { id, hash: hashKey(text), prefix: text.slice(0, shownCharacters), secret: kind === "signing" ? text : null } };
}

const WEBHOOK_TOKEN_PREFIX = "whk_";

/** The secret part of a webhook's URL: 192 random bits. */
export function issueWebhookToken(): string {
  return `${WEBHOOK_TOKEN_PREFIX}${randomBytes(SECRET_BYTES).toString("hex")}`;
}

export function isWebhookToken(text: string): boolean {
  return text.startsWith(WEBHOOK_TOKEN_PREFIX);
}
