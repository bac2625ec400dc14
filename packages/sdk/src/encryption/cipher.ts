/**
 * Values as text that only holders of the key can read: AES-256-GCM by WebCrypto, with a new random nonce for each value. The text names
 * the key by a hash, so that a value of another key is told from a damaged one.
 */

const KEY_HEX = /^[0-9a-f]{64}$/i;
const NONCE_BYTES = 12;
const VERSION = "v1";
/** Arguments of one call of String.fromCharCode. */
const CHUNK_BYTES = 8_192;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface NamedKey {
  id: string;
  key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

export class Cipher {
  readonly #keys: readonly string[];
  #named: Promise<NamedKey[]> | undefined;

  /** 32 bytes each, as hex. The first encrypts, each decrypts what it encrypted. */
  constructor(keys: readonly string[]) {
    if (keys.length === 0) throw new TypeError("encryptionMiddleware needs a key: 32 bytes as 64 hexadecimal digits");
    for (const key of keys) {
      if (typeof key !== "string" || !KEY_HEX.test(key))
        throw new TypeError("A key of encryptionMiddleware is 32 bytes as 64 hexadecimal digits, for example from: openssl rand -hex 32");
    }
    this.#keys = keys;
  }

  async encrypt(text: string): Promise<string> {
    const [first] = await this.#imported();
    const { id, key } = first as NamedKey;
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, key, encoder.encode(text)));
    return [VERSION, id, toBase64(nonce), toBase64(sealed)].join(".");
  }

  async decrypt(sealed: string): Promise<string> {
    const [version, id, nonce, bytes] = sealed.split(".");
    if (version !== VERSION || !id || !nonce || !bytes) throw new Error("A value is marked as encrypted, but is not in a known form");
    const named = await this.#imported();
    const found = named.find((one) => one.id === id);
    if (!found) {
      const known = named.map((one) => one.id).join(", ");
      throw new Error(
        `A value is encrypted with the key ${id}, which encryptionMiddleware does not have (it has ${known}). Add it to keys`,
      );
    }
    try {
      return decoder.decode(await crypto.subtle.decrypt({ name: "AES-GCM", iv: fromBase64(nonce) }, found.key, fromBase64(bytes)));
    } catch (cause) {
      throw new Error(`A value encrypted with the key ${id} was changed or cut`, { cause });
    }
  }

  #imported(): Promise<NamedKey[]> {
    this.#named ??= Promise.all(this.#keys.map(importKey));
    return this.#named;
  }
}

async function importKey(hex: string): Promise<NamedKey> {
  const bytes = Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const id = [...digest.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, key: await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]) };
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK_BYTES));
  return btoa(text);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
