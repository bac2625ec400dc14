/** Syncs apps: asks an app to register, and matches the registration that follows to the request. */

import type { Refusal } from "@inlet/protocol";
import type { App, Environment } from "../../store/contract/index.ts";
import type { AppCaller } from "../call/call-app.ts";
import { askToRegister, type InBandAnswer } from "./ask-to-register.ts";

export interface AppSyncParts {
  caller: Pick<AppCaller, "call">;
  /** Newest first. Empty: nothing is signed. */
  signingKeys(): readonly string[];
  /** Every app there is. */
  apps(): readonly App[];
  /** Stores the functions in an app's response; otherwise returns a sentence that says why not. `environment` is where it was asked to register. */
  register(environment: Environment, answer: InBandAnswer, mayUse: MayUse): Promise<App | string | Refusal>;
  newId(): string;
  now(): number;
}

/** Whether the caller who asked may register an app in an environment: the app names one of its own accord. */
export type MayUse = (environment: Pick<Environment, "name" | "kind">) => boolean;

interface PendingSync {
  environment: Environment;
  mayUse: MayUse;
  app: App | null;
}

export class AppSync {
  readonly #parts: AppSyncParts;
  readonly #pending = new Map<string, PendingSync>();

  constructor(parts: AppSyncParts) {
    this.#parts = parts;
  }

  /** The registered app, or a sentence that says why it did not register. */
  async ask(environment: Environment, url: string, mayUse: MayUse): Promise<App | string | Refusal> {
    const { caller, signingKeys, newId, now } = this.#parts;
    const begunAt = now();
    const deployId = newId();
    const pending: PendingSync = { environment, mayUse, app: null };
    this.#pending.set(deployId, pending);
    try {
      const answer = await askToRegister(caller, { url, deployId, signingKeys: signingKeys(), now: now() });
      if (typeof answer === "string") return answer;
      if ("registration" in answer) return await this.#parts.register(environment, answer, mayUse);
      return pending.app ?? this.#registeredSince(begunAt, url) ?? answer.otherwise;
    } finally {
      this.#pending.delete(deployId);
    }
  }

  /** Not every SDK returns the id of the sync: then a match by URL, and the recent registration, have to suffice. */
  #registeredSince(begunAt: number, url: string): App | undefined {
    const recent = this.#parts.apps().filter(({ syncedAt, removedAt }) => syncedAt >= begunAt && removedAt === null);
    return recent.find((app) => endpointOf(app.url) === endpointOf(url));
  }

  /** The sync that a registration belongs to, if it was requested here. */
  pending(deployId: string): Pick<PendingSync, "environment" | "mayUse"> | undefined {
    return this.#pending.get(deployId);
  }

  registered(deployId: string, app: App): void {
    const pending = this.#pending.get(deployId);
    if (pending) pending.app = app;
  }
}

/** Two URLs of one endpoint may differ in their query, and in the name of this machine. */
export function endpointOf(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = ["localhost", "[::1]", "127.0.0.1"].includes(hostname) ? "localhost" : hostname;
  return `${protocol}//${host}:${port}${pathname.replace(/\/+$/, "")}`;
}
