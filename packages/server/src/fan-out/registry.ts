/** Every function of every environment in memory, so that finding what an event starts needs no query. Refreshed after every sync. */

import { isDeepStrictEqual } from "node:util";
import { type AppNo, type EnvironmentId, type FunctionNo, stableUuid } from "@inlet/protocol";
import { type App, type AppStore, type StoredFunction, sharedRefresh } from "../store/contract/index.ts";
import { type FunctionConfig, readFunctionConfig } from "./function-config.ts";
import { limitedConfig } from "./function-limits.ts";
import { type Candidate, TriggerIndex } from "./triggers.ts";

export interface RegisteredFunction {
  no: FunctionNo;
  /** `<app>-<function>`. */
  id: string;
  /** The id that SDKs receive: some require a UUID. */
  uuid: string;
  name: string;
  environmentId: EnvironmentId;
  app: App;
  config: FunctionConfig;
  isArchived: boolean;
  stored: StoredFunction;
}

export class Registry {
  readonly #store: AppStore;
  #apps = new Map<AppNo, App>();
  #functions = new Map<FunctionNo, RegisteredFunction>();
  #triggers = new Map<EnvironmentId, TriggerIndex>();
  /** What the maps were made of. */
  #read: [App[], StoredFunction[]] = [[], []];
  readonly #listeners = new Set<(hasChanged: boolean) => void>();

  constructor(store: AppStore) {
    this.#store = store;
  }

  /** Reads follow one another: one that began before a change cannot undo it. */
  readonly refresh = sharedRefresh(() => this.#readAll());

  async #readAll(): Promise<void> {
    const [apps, functions] = await Promise.all([this.#store.appList(), this.#store.functionList()]);
    const hasChanged = !isDeepStrictEqual(this.#read, [apps, functions]);
    if (hasChanged) this.#show(apps, functions);
    for (const listener of this.#listeners) listener(hasChanged);
  }

  #show(apps: App[], functions: StoredFunction[]): void {
    this.#read = [apps, functions];
    this.#apps = new Map(apps.map((app) => [app.no, app]));
    this.#functions = new Map(functions.flatMap((stored) => this.#register(stored)));
    const byEnvironment = Map.groupBy(
      [...this.#functions.values()].filter(({ isArchived }) => !isArchived),
      ({ environmentId }) => environmentId,
    );
    this.#triggers = new Map([...byEnvironment].map(([id, registered]) => [id, new TriggerIndex(registered.map(triggered))]));
  }

  /** Called after each read. `hasChanged`: an app or a function differs from what was read before. */
  onRefresh(listener: (hasChanged: boolean) => void): void {
    this.#listeners.add(listener);
  }

  candidates(environmentId: EnvironmentId, eventName: string): readonly Candidate[] {
    return this.#triggers.get(environmentId)?.match(eventName) ?? [];
  }

  function(no: FunctionNo): RegisteredFunction | undefined {
    return this.#functions.get(no);
  }

  /** Null if it is archived, or unknown: another node may have registered it before this one has read of it. */
  async livingFunction(no: FunctionNo): Promise<RegisteredFunction | null> {
    if (this.#functions.get(no)?.isArchived !== false) await this.refresh();
    const known = this.#functions.get(no);
    return known && !known.isArchived ? known : null;
  }

  functionWithId(environmentId: EnvironmentId, id: string): RegisteredFunction | undefined {
    return this.functions(environmentId).find((registered) => registered.id === id);
  }

  nameOf(id: string): string | undefined {
    return this.#functions.values().find((registered) => registered.id === id)?.name;
  }

  /** Functions that can be started. */
  functions(environmentId: EnvironmentId): RegisteredFunction[] {
    return this.everyFunction(environmentId).filter(({ isArchived }) => !isArchived);
  }

  /** Includes archived ones: their runs are still shown. */
  everyFunction(environmentId: EnvironmentId): RegisteredFunction[] {
    return [...this.#functions.values()].filter((registered) => registered.environmentId === environmentId);
  }

  app(no: AppNo): App | undefined {
    return this.#apps.get(no);
  }

  /** Apps that were not removed. */
  apps(environmentId?: EnvironmentId): App[] {
    return [...this.#apps.values()].filter(
      (app) => app.removedAt === null && (environmentId === undefined || app.environmentId === environmentId),
    );
  }

  #register(stored: StoredFunction): [FunctionNo, RegisteredFunction][] {
    const app = this.#apps.get(stored.appNo);
    const read = readFunctionConfig(JSON.parse(stored.config));
    // Checked when it was registered: only a store of another version could contain an invalid one.
    if (!app || "faults" in read) return [];
    const config = limitedConfig(read.config, stored.limits);
    const { no, id, name, environmentId, archivedAt } = stored;
    return [
      [
        no,
        { no, id, uuid: stableUuid(`${environmentId}/${id}`), name, environmentId, app, config, isArchived: archivedAt !== null, stored },
      ],
    ];
  }
}

function triggered({ no, config }: RegisteredFunction): { functionNo: FunctionNo; triggers: FunctionConfig["triggers"] } {
  return { functionNo: no, triggers: config.triggers };
}
