/** Asks apps for their functions: those of the settings and of this machine by themselves, any other when a person or an SDK asks. */

import { type EventIdGenerator, Refusal } from "@inlet/protocol";
import type { Logger } from "pino";
import { AppSync, type AppSyncParts } from "../execute/apps/app-sync.ts";
import { AppWatch, type AppWatchParts } from "../execute/apps/app-watch.ts";
import type { SyncScope } from "../execute/apps/deploy-id.ts";
import type { Registry } from "../fan-out/registry.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { App, Environment, Store } from "../store/contract/index.ts";

export interface SyncAppsParts extends Pick<AppSyncParts, "caller" | "signing" | "now" | "register"> {
  store: Pick<Store, "appFault">;
  registry: Registry;
  directory: Directory;
  eventIds: EventIdGenerator;
  /** The environment of apps that are found. */
  defaultEnvironment: string;
  watched: Pick<AppWatchParts, "urls" | "discovers" | "asksAgain">;
  log: Logger;
}

export class SyncApps {
  readonly sync: AppSync;
  readonly #parts: SyncAppsParts;
  readonly #watch: AppWatch;
  #ownPort = 0;

  constructor(parts: SyncAppsParts) {
    this.#parts = parts;
    const { registry, directory, defaultEnvironment, eventIds, caller, signing, register, now, log } = parts;
    const home = () => directory.environmentNamed(defaultEnvironment);
    this.sync = new AppSync({
      caller,
      signing,
      now,
      register,
      async apps() {
        await registry.refresh();
        return registry.apps();
      },
      newId: () => eventIds.next(now()),
    });
    this.#watch = new AppWatch({
      ...parts.watched,
      ownPort: () => this.#ownPort,
      known: () => registry.apps(home()?.id),
      sync: async (url) => {
        const outcome = await this.syncIn(home() as Environment, url, null);
        return outcome instanceof Refusal ? outcome.message : outcome;
      },
      onFault: (url, fault) => log.warn({ url, fault }, "an app could not be synced"),
    });
  }

  /** The reason of a failure is shown with the app, if the app is known. */
  async syncIn(home: Environment, url: string, environments: SyncScope["environments"]): Promise<App | string | Refusal> {
    const { registry, store } = this.#parts;
    const outcome = await this.sync.ask(home, url, environments);
    if (typeof outcome !== "string") return outcome;
    const known = registry.apps(home.id).filter((app) => app.url === url && app.error !== outcome);
    if (known.length > 0) {
      await store.appFault({ environmentId: home.id, url, error: outcome });
      await registry.refresh();
    }
    return outcome;
  }

  start(ownPort: number): void {
    this.#ownPort = ownPort;
    this.#watch.start();
  }

  stop(): Promise<void> {
    return this.#watch.stop();
  }
}
