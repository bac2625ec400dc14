/** Makes keys. Only the hash of a key is kept (signing keys excepted), so the text returned here is the only copy. */

import { randomBytes } from "node:crypto";
import { createEventIdGenerator, type KeyId } from "@inlet/protocol";
import type { Key, KeyKind } from "../../store/contract/index.ts";
import { hashKey } from "./directory.ts";

export interface IssuedKey {
  text: string;
  key: Pick<Key, "id" | "hash" | "prefix" | "secret">;
}

/** What a key starts with: people see at a glance what they hold, and secret scanners recognise it. Real SDKs expect the last form. */
const BEGINNINGS: Readonly<Record<KeyKind, string>> = { event: "evk_", api: "ak_", signing: "signkey-prod-" };
const SECRET_BYTES = 24;
/** Signing keys are read as hexadecimal by SDKs, and are as long as the hash they feed. */
const SIGNING_SECRET_BYTES = 32;
const SHOWN_CHARACTERS = 4;

const keyIds = createEventIdGenerator();

export function issueKey(kind: KeyKind): IssuedKey {
  const secret = randomBytes(kind === "signing" ? SIGNING_SECRET_BYTES : SECRET_BYTES).toString("hex");
  return describeKey(kind, BEGINNINGS[kind] + secret, BEGINNINGS[kind].length + SHOWN_CHARACTERS);
}

/** Whether a key was made here: its random bits cannot be guessed. */
export function isIssuedEventKey(text: string): boolean {
  return /^evk_[0-9a-f]{48}$/.test(text);
}

/** A key whose text was chosen by a person: of a short one, hardly anything may be shown. */
export function adoptKey(kind: KeyKind, text: string): IssuedKey {
  return describeKey(kind, text, Math.min(SHOWN_CHARACTERS, Math.floor(text.length / 4)));
}

function describeKey(kind: KeyKind, text: string, shownCharacters: number): IssuedKey {
  const id = `key_${keyIds.next(Date.now())}` as KeyId;
  return { text, key: { id, hash: hashKey(text), prefix: text.slice(0, shownCharacters), secret: kind === "signing" ? text : null } };
}

/** The secret end of a webhook's URL: 192 random bits. */
export function issueWebhookToken(): string {
  return `whk_${randomBytes(SECRET_BYTES).toString("hex")}`;
}
