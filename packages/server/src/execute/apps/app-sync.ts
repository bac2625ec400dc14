/** Syncs apps: asks an app to register, and matches the registration that follows to the request. */

import type { AppNo, EnvironmentId, Refusal } from "@inlet/protocol";
import type { App, Environment } from "../../store/contract/index.ts";
import type { AppCaller } from "../call/call-app.ts";
import type { Signing } from "../call/function-request.ts";
import { askToRegister, type InBandResponse } from "./ask-to-register.ts";
import { type SyncScope, writeDeployId } from "./deploy-id.ts";

export interface AppSyncParts {
  caller: Pick<AppCaller, "call">;
  signing(environmentId: EnvironmentId): Signing;
  /** Every app there is, including those that registered on other nodes. */
  apps(): Promise<readonly App[]>;
  /** Stores the functions in an app's response; otherwise returns a sentence that says why not. `environment` is where it was asked to register. */
  register(environment: Environment, response: InBandResponse, environments: SyncScope["environments"]): Promise<App | string | Refusal>;
  newId(): string;
  now(): number;
}

export class AppSync {
  readonly #parts: AppSyncParts;
  /** The app that registered here, by the id of its sync. */
  readonly #pending = new Map<string, App | null>();

  constructor(parts: AppSyncParts) {
    this.#parts = parts;
  }

  /** The registered app, or a sentence that says why it did not register. `environments` are those the caller is restricted to. */
  async ask(environment: Environment, url: string, environments: SyncScope["environments"]): Promise<App | string | Refusal> {
    const { caller, newId, now } = this.#parts;
    const signing = this.#parts.signing(environment.id);
    if (signing.kind === "impossible") return signing.reason;
    const signingKeys = signing.kind === "signed" ? signing.keys : [];
    const before = syncTimes(await this.#parts.apps());
    const deployId = writeDeployId(newId(), { home: environment.name, environments });
    this.#pending.set(deployId, null);
    try {
      const response = await askToRegister(caller, { url, deployId, signingKeys, now: now() });
      if (typeof response === "string") return response;
      if ("registration" in response) return await this.#parts.register(environment, response, environments);
      return this.#pending.get(deployId) ?? (await this.#registeredSince(before, url)) ?? response.otherwise;
    } finally {
      this.#pending.delete(deployId);
    }
  }

  /**
   * An app may have registered on another node, and not every SDK returns the id: then a match by URL, and a registration that was not
   * there before, have to suffice. Times of two nodes are only compared for equality: their clocks differ.
   */
  async #registeredSince(before: ReadonlyMap<AppNo, number>, url: string): Promise<App | undefined> {
    const recent = (await this.#parts.apps()).filter(({ no, syncedAt, removedAt }) => before.get(no) !== syncedAt && removedAt === null);
    return recent.find((app) => endpointOf(app.url) === endpointOf(url));
  }

  registered(deployId: string, app: App): void {
    if (this.#pending.has(deployId)) this.#pending.set(deployId, app);
  }
}

function syncTimes(apps: readonly App[]): ReadonlyMap<AppNo, number> {
  return new Map(apps.map(({ no, syncedAt }) => [no, syncedAt]));
}

/** Two URLs of one endpoint may differ in their query, and in the name of this machine. */
export function endpointOf(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = ["localhost", "[::1]", "127.0.0.1"].includes(hostname) ? "localhost" : hostname;
  return `${protocol}//${host}:${port}${pathname.replace(/\/+$/, "")}`;
}
