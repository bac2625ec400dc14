/** Login links: a token that opens one session, within 15 minutes. Kept in memory only: it ends with the process. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const VALID_MS = 15 * 60_000;

export class LoginTokens {
  readonly #now: () => number;
  #open: { hash: Buffer; until: number }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  issue(): string {
    const text = `lt_${randomBytes(24).toString("hex")}`;
    this.#open.push({ hash: sha256(text), until: this.#now() + VALID_MS });
    return text;
  }

  isOpen(text: string): boolean {
    const hash = sha256(text);
    this.#open = this.#open.filter(({ until }) => until > this.#now());
    return this.#open.some((token) => timingSafeEqual(token.hash, hash));
  }

  /** Returns true once for each token. */
  redeem(text: string): boolean {
    if (!this.isOpen(text)) return false;
    const hash = sha256(text);
    this.#open = this.#open.filter((token) => !timingSafeEqual(token.hash, hash));
    return true;
  }
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
