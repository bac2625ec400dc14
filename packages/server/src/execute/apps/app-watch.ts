/**
 * Keeps apps in sync automatically. A dev server discovers apps on this machine and syncs known ones repeatedly, so that code changes
 * take effect; otherwise the apps named in the settings are asked until each has responded once.
 */

import { type App, StoreUnavailable } from "../../store/contract/index.ts";
import { endpointOf } from "./app-sync.ts";
import { findLocalApps } from "./local-apps.ts";

const INTERVAL_MS = 5_000;
/** Shorter until the first app is found, because a developer is waiting. */
const FIRST_INTERVAL_MS = 1_000;

export interface AppWatchParts {
  /** Named in the settings. */
  urls: readonly string[];
  /** Discover apps on this machine. */
  discovers: boolean;
  /** Sync registered apps again. */
  asksAgain: boolean;
  ownPort(): number;
  known(): readonly App[];
  /** Asks one app to register. Returns a sentence if it does not. */
  sync(url: string): Promise<App | string>;
  onFault(url: string, fault: string): void;
}

export class AppWatch {
  readonly #parts: AppWatchParts;
  readonly #synced = new Set<string>();
  readonly #faults = new Map<string, string>();
  #timeout: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  #stopped = false;

  constructor(parts: AppWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    if (this.#parts.urls.length > 0 || this.#parts.discovers) this.#poll();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timeout) clearTimeout(this.#timeout);
    await this.#polling;
  }

  #poll(): void {
    this.#polling = this.#round().finally(() => {
      this.#polling = null;
      const isDone = !this.#parts.discovers && !this.#parts.asksAgain && this.#parts.urls.every((url) => this.#synced.has(url));
      if (this.#stopped || isDone) return;
      this.#timeout = setTimeout(() => this.#poll(), this.#parts.known().length > 0 ? INTERVAL_MS : FIRST_INTERVAL_MS);
      this.#timeout.unref();
    });
  }

  async #round(): Promise<void> {
    const { urls, discovers, asksAgain, known, ownPort } = this.#parts;
    const due = new Set(urls.filter((url) => asksAgain || !this.#synced.has(url)));
    if (asksAgain) for (const { url } of known()) due.add(url);
    if (discovers) {
      const endpoints = new Map(
        [...due].map((url) => [endpointOf(url), this.#faults.has(url) ? ("fails" as const) : ("answers" as const)]),
      );
      for (const url of await findLocalApps((candidate) => endpoints.get(endpointOf(candidate)) ?? null, ownPort())) due.add(url);
    }
    await Promise.all([...due].map((url) => this.#sync(url)));
  }

  /** A repeated fault is logged once. */
  async #sync(url: string): Promise<void> {
    const outcome = await this.#parts.sync(url).catch((error) => {
      // The next round tries again.
      if (error instanceof StoreUnavailable) return error.message;
      throw error;
    });
    if (typeof outcome !== "string") {
      this.#synced.add(url);
      this.#faults.delete(url);
    } else if (this.#faults.get(url) !== outcome && !this.#stopped) {
      this.#faults.set(url, outcome);
      this.#parts.onFault(url, outcome);
    }
  }
}
