/**
 * Secrets at rest: AES-256-GCM with a key that is not in the row. An encrypted text names its key and is bound to the row it belongs
 * to (`owner`), so it cannot be decrypted in another row. The first key encrypts, every key decrypts, which allows rotation.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

export interface SecretBox {
  seal(text: string, owner: string): string;
  /** Null if none of the keys decrypts it. A text that was never encrypted is returned as it is. */
  open(sealed: string, owner: string): string | null;
  /** Whether it is encrypted with the first key. */
  isCurrent(sealed: string): boolean;
}

const PREFIX = "sealed1:";
const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
const ID_BYTES = 6;

interface BoxKey {
  id: string;
  bytes: Buffer;
}

/** Texts of the keys, at least one. */
export function createSecretBox(keyTexts: readonly string[]): SecretBox {
  const keys = keyTexts.map(deriveKey);
  const [first] = keys;
  if (!first) throw new Error("a secret box needs a key");
  return {
    seal: (text, owner) => seal(first, text, owner),
    open(sealed, owner) {
      if (!sealed.startsWith(PREFIX)) return sealed;
      const key = keys.find(({ id }) => id === idOf(sealed));
      return key ? open(key, sealed, owner) : null;
    },
    isCurrent: (sealed) => sealed.startsWith(PREFIX) && idOf(sealed) === first.id,
  };
}

export function newEncryptionKey(): string {
  return randomBytes(KEY_BYTES).toString("hex");
}

/** Derives a key and its name from a text with enough entropy. */
function deriveKey(text: string): BoxKey {
  const derived = Buffer.from(hkdfSync("sha256", text, "inlet", "secrets at rest", KEY_BYTES + ID_BYTES));
  return { bytes: derived.subarray(0, KEY_BYTES), id: derived.subarray(KEY_BYTES).toString("hex") };
}

function seal({ id, bytes }: BoxKey, text: string, owner: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", bytes, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `${PREFIX}${id}:${sealed.toString("base64")}`;
}

function open({ bytes }: BoxKey, sealed: string, owner: string): string | null {
  const packed = Buffer.from(sealed.slice(sealed.lastIndexOf(":") + 1), "base64");
  if (packed.length < IV_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv("aes-256-gcm", bytes, packed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner)).setAuthTag(packed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(packed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

function idOf(sealed: string): string {
  return sealed.slice(PREFIX.length, sealed.lastIndexOf(":"));
}
