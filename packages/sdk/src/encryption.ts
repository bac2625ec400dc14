/**
 * Encrypts what the service stores: data of events and signals, results and arguments of steps, results of functions, and data of invocations and
 * deferred functions. The service sees names, ids, times and errors, and stores the rest without being able to read it.
 */

import { Cipher } from "./encryption/cipher.ts";
import type { Middleware } from "./middleware/middleware.ts";

/** The field whose value is an encrypted one. */
export const ENCRYPTED_FIELD = "$inlet.encrypted";

export interface EncryptionOptions {
  /** 32 bytes as hex. Encrypts and decrypts. */
  key?: string | undefined;
  /** For rotation, instead of `key` or after it: the first key encrypts, the others only decrypt. */
  keys?: readonly string[] | undefined;
  /** Fields at the top of `data` that stay readable for the service: for expressions, keys of limits and `match`. */
  readable?: readonly string[] | undefined;
}

export function encryptionMiddleware({ key, keys = [], readable = [] }: EncryptionOptions): Middleware {
  const cipher = new Cipher([...(key === undefined ? [] : [key]), ...keys]);
  return {
    name: "encryption",
    encode: async (value) => ({
      ...readableFields(value, readable),
      [ENCRYPTED_FIELD]: await cipher.encrypt(JSON.stringify(value ?? null)),
    }),
    decode: (value) => decrypted(cipher, value),
  };
}

function readableFields(value: unknown, readable: readonly string[]): Record<string, unknown> {
  if (!isObject(value)) return {};
  return Object.fromEntries(readable.filter((field) => Object.hasOwn(value, field)).map((field) => [field, value[field]]));
}

/**
 * The value with everything encrypted in it made readable: an event inside a failure is as encrypted as it was sent. Fields beside an
 * encrypted value are the service's (`_inngest`) or readable ones; what was encrypted counts, because nobody else can have changed it.
 */
async function decrypted(cipher: Cipher, value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((item) => decrypted(cipher, item)));
  if (!isObject(value)) return value;
  const sealed = value[ENCRYPTED_FIELD];
  if (typeof sealed !== "string") {
    const entries = Object.entries(value).map(async ([field, inner]) => [field, await decrypted(cipher, inner)] as const);
    return Object.fromEntries(await Promise.all(entries));
  }
  const { [ENCRYPTED_FIELD]: _, ...beside } = value;
  const opened: unknown = JSON.parse(await cipher.decrypt(sealed));
  return isObject(opened) ? { ...beside, ...opened } : opened;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
