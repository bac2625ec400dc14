/**
 * A store whose environments are on several databases: one plain store per database, and a table that says where each call goes. Adds no
 * behaviour of its own. While no database was added, calls go to the directory's store as they are.
 */

import type { Store, StoreItself, StoreReport } from "../contract/index.ts";
import { Placement, type PlacementParts } from "./placement.ts";
import { DIRECTORY_ROUTES } from "./routes/directory-routes.ts";
import { EVENT_ROUTES } from "./routes/event-routes.ts";
import { FIGURE_ROUTES } from "./routes/figure-routes.ts";
import { QUEUE_ROUTES } from "./routes/queue-routes.ts";
import { RUN_ROUTES } from "./routes/run-routes.ts";
import { each, type RoutedName, type Routes } from "./rules.ts";
import { viewed, viewsFrom } from "./store-methods.ts";

const ROUTES: Routes<Store> = { ...DIRECTORY_ROUTES, ...EVENT_ROUTES, ...RUN_ROUTES, ...QUEUE_ROUTES, ...FIGURE_ROUTES };

/** All that the rules of views use of a placement. */
type Routing = Pick<Placement, "isAlone" | "directory" | "members" | "databaseOf" | "inEnvironment" | "storeOf" | "refresh">;
type AnyRule = (placement: Routing, name: RoutedName) => unknown;

/** Fails if the directory cannot be read. A member that is away is used when it is back. */
export async function openPlacedStore(parts: PlacementParts): Promise<Store> {
  const placement = new Placement(parts);
  try {
    await placement.start();
  } catch (error) {
    await placement.stop();
    throw error;
  }
  const route = (name: RoutedName, routing: Routing = placement) => (ROUTES[name] as unknown as AnyRule)(routing, name);
  const routed = (Object.keys(ROUTES) as RoutedName[]).map((name) => [name, route(name)] as const);
  const looking = viewing(placement);
  const storeViews = viewsFrom((name) => route(name, looking));
  return { ...(Object.fromEntries(routed) as unknown as Pick<Store, RoutedName>), ...placedItself(parts.directory, placement), storeViews };
}

/** The same databases by their views. */
function viewing(placement: Placement): Routing {
  const known = new WeakMap<Store, Store>();
  const view = (store: Store) => {
    const seen = known.get(store) ?? viewed(store);
    known.set(store, seen);
    return seen;
  };
  return {
    get isAlone() {
      return placement.isAlone;
    },
    get directory() {
      return view(placement.directory);
    },
    members: placement.members,
    databaseOf: (environmentId) => placement.databaseOf(environmentId),
    inEnvironment: (environmentId, call) => placement.inEnvironment(environmentId, (store) => call(view(store))),
    storeOf: (member) => view(member.store),
    refresh: () => placement.refresh(),
  };
}

function placedItself(directory: Store, placement: Placement): Omit<StoreItself, "storeViews"> {
  let stopped: Promise<void> | null = null;
  let last: StoreReport | null = null;
  return {
    storeNode: directory.storeNode,
    storeIsShared: directory.storeIsShared,
    storeNow: directory.storeNow,
    storeKeyHash: directory.storeKeyHash,
    storeLinkToken: directory.storeLinkToken,
    storeDatabases: () => placement.databases(),
    storeDatabaseOf: (environmentId) => placement.databaseOf(environmentId),
    storeReplica: () => placement.directory.storeReplica(),
    storeWatch: (listener) => placement.watch(listener),
    /** Members go on without the directory for a while. */
    async storeProbe() {
      if (placement.isAlone || placement.members.directory.isReachable) await placement.directory.storeProbe();
      else placement.refuseTooOld();
    },
    storeBytes: async () => (await each(placement, (store) => store.storeBytes())).reduce((sum, { answer }) => sum + answer, 0),
    /** Of the directory, which lists all nodes; while it is away, its last report. */
    async storeReport() {
      if (last && !placement.isAlone && !placement.members.directory.isReachable) return last;
      last = await placement.directory.storeReport();
      return last;
    },
    stop: () => (stopped ??= placement.stop()),
  };
}
