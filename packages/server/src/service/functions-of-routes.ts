/** What the REST routes see of functions and runs, and do with them. */

import type { FunctionNo } from "@inlet/protocol";
import type { AppsRoutesParts } from "../api/runs/apps-routes.ts";
import type { ShownFunction } from "../api/runs/function-view.ts";
import type { FunctionsRoutesParts } from "../api/runs/functions-routes.ts";
import type { RunsRoutesParts } from "../api/runs/runs-routes.ts";
import type { Executor } from "../execute/executor.ts";
import type { createEndEvents } from "../execute/steps/end-events.ts";
import { cancelRun, wakeStep } from "../execute/steps/run-changes.ts";
import type { FanOut } from "../fan-out/fan-out.ts";
import { rateLimitFault } from "../fan-out/function-limits.ts";
import type { RegisteredFunction, Registry } from "../fan-out/registry.ts";
import type { PauseFunctions } from "../flows/pause-functions.ts";
import { rerunRun } from "../flows/rerun-run.ts";
import type { SyncApps } from "../flows/sync-apps.ts";
import { whyRunWaits } from "../flows/why-run-waits.ts";
import type { Environment, RunState, Store } from "../store/contract/index.ts";

interface RunsOfRoutesParts {
  store: Store;
  registry: Registry;
  fanOut: FanOut;
  executor: Executor;
  endEvents: ReturnType<typeof createEndEvents>;
  now(): number;
}

export function runsOfRoutes({ store, registry, fanOut, executor, endEvents, now }: RunsOfRoutesParts): RunsRoutesParts["runs"] {
  return {
    functionName: (no) => shownFunction(registry, no),
    functionNos: ({ id }, wanted) => functionNosOf(registry, id, wanted),
    cancel: (run) => executor.change(run, (state) => cancelRun(state, now(), endEvents, "It was cancelled by hand.")),
    async wake(run, stepId) {
      let isWoken = false;
      const wakes = (state: RunState) => {
        const change = wakeStep(state, stepId, now());
        isWoken = change.steps !== undefined;
        return change;
      };
      return (await executor.change(run, wakes)) && isWoken;
    },
    waiting: (run, environment) => whyRunWaits({ store, registry, now }, run, environment),
    rerun: (run, from) => rerunRun({ store, registry, fanOut, executor, now }, run, from),
  };
}

/** What the routes of functions and apps use of the registry. */
export type RoutesRegistry = FunctionsRoutesParts["registry"] & AppsRoutesParts["registry"];

interface RegistryOfRoutesParts {
  registry: Registry;
  store: Store;
  holds: PauseFunctions;
  apps: SyncApps;
}

function shownRegistration({ stored, app, config }: RegisteredFunction): ShownFunction {
  return { stored, app, url: config.url, config: config.raw, rateLimitFault: rateLimitFault(config) };
}

export function registryOfRoutes({ registry, store, holds, apps }: RegistryOfRoutesParts): RoutesRegistry {
  return {
    apps: ({ id }) => registry.apps(id),
    functions: ({ id }) => registry.functions(id).map(shownRegistration),
    everyFunction: ({ id }) => registry.everyFunction(id).map(shownRegistration),
    refresh: () => registry.refresh(),
    sync: (home, url, environments) => apps.syncIn(home, url, environments),
    async held({ id }) {
      const held = await store.queueHeld({ environmentId: id });
      return new Map(held.map(({ functionNo, runs }) => [functionNo, runs]));
    },
    pause: (environment, id) => holds.pause(environment, id),
    resume: (environment, id, held) => holds.resume(environment, id, held),
  };
}

export function functionNosOf(registry: Registry, environmentId: Environment["id"], functionId: string | null): FunctionNo[] {
  const known = registry.everyFunction(environmentId);
  return known.filter(({ id }) => functionId === null || id === functionId).map(({ no }) => no);
}

function shownFunction(registry: Registry, no: FunctionNo): { id: string; name: string; app: string } {
  const known = registry.function(no);
  return { id: known?.id ?? "unknown", name: known?.name ?? "unknown", app: known?.app.name ?? "unknown" };
}
