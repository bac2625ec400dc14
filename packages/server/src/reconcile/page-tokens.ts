/**
 * Tokens of providers that want one for each page: kept in memory only, for a part of their life, until a page fails. One token per webhook,
 * good for the settings that it was asked for with.
 */

import { type AskPageParts, askPage } from "./ask-page.ts";
import type { ReconcilingWebhook, SignIn } from "./page-reader.ts";

interface Kept {
  token: string;
  setAt: number | undefined;
  until: number;
}

const KEPT_MS_MAX = 600_000;

export class PageTokens {
  readonly #kept = new Map<string, Kept>();

  /** Asks for one if there is none. Throws an Error whose message may be shown. */
  async get(parts: AskPageParts, { id, reconcile, secrets }: ReconcilingWebhook, signIn: SignIn, stopping: AbortSignal): Promise<string> {
    const now = parts.now();
    const known = this.#kept.get(id);
    if (known && known.setAt === reconcile?.setAt && known.until > now) return known.token;
    const { token, expiresInSeconds } = signIn.read(await askPage(parts, signIn.request(secrets.reconcile), stopping));
    for (const [key, { until }] of this.#kept) if (until <= now) this.#kept.delete(key);
    this.#kept.set(id, { token, setAt: reconcile?.setAt, until: now + Math.min(expiresInSeconds * 500, KEPT_MS_MAX) });
    return token;
  }

  /** The token did not help, or is not to be shown: returns it. */
  drop({ id }: Pick<ReconcilingWebhook, "id">): string[] {
    const known = this.#kept.get(id);
    this.#kept.delete(id);
    return known ? [known.token] : [];
  }
}
