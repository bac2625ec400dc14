/**
 * The PostgreSQL databases of a simulation, which nodes share: one, or two, of which the second holds what the scenario does. Each node
 * reaches each of them through a proxy of its own, which cuts connections before or after any statement. What a killed node held is free
 * when its leases are over.
 */

import { waitRules } from "../../src/fan-out/waits.ts";
import { type Store, StoreUnavailable } from "../../src/store/contract/index.ts";
import { openPlacedStore } from "../../src/store/placement/placed-store.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { reachDatabase } from "../../src/store/postgres/reach-database.ts";
import { type CuttingProxy, openCuttingProxy } from "../support/cutting-proxy.ts";
import { inDatabase } from "../support/postgres-server.ts";
import { readAll, type SimStores } from "./folders.ts";
import { startMoves } from "./moves.ts";
import { Random } from "./random.ts";
import type { Scenario } from "./scenario.ts";

const CONNECTIONS_MAX = 4;
/** A notification that is lost with its connection is made up for by the next poll, well within the time that the model allows for it. */
const POLL_INTERVAL_MS = 1_000;
/** On a busy machine, an operator waits longer for a connection than the service may. */
const OPERATOR_TRIES = 12;

/** A place is known for less long than the old one refuses writes, as in a service. */
const CACHE_MS = 5_000;
const MOVE_TIMING = { fenceMs: 8_000 };

/** A process that gets little of the machine takes long between two statements. What is to break is cut, held or killed. */
const PATIENT_MS = 60_000;

const OPTIONS = {
  rules: waitRules,
  timeoutMs: PATIENT_MS,
  moveTiming: MOVE_TIMING,
  connectionsMax: CONNECTIONS_MAX,
  pollIntervalMs: POLL_INTERVAL_MS,
  onFault: () => undefined,
  onRecovery: () => undefined,
};
const SECOND = 1;

/** `url`: of the first database. `second`: of the other; null: there is none. */
async function openAt(url: string, second: string | null): Promise<Store> {
  const directory = await openPostgresStore({ ...OPTIONS, url });
  if (second === null) return directory;
  const shared = { ...OPTIONS, node: directory.storeNode, now: directory.storeNow };
  const placed = await openPlacedStore({
    directory,
    directoryLife: reachDatabase(url),
    open: () => openPostgresStore({ ...shared, url: second }),
    life: () => reachDatabase(second),
    onAway: () => undefined,
    onReachable: () => undefined,
    cacheMs: CACHE_MS,
  });
  const environmentInsert: Store["environmentInsert"] = (params) =>
    placed.environmentInsert(params.kind === "default" ? { ...params, databaseNo: SECOND } : params);
  return { ...placed, environmentInsert };
}

export async function createDatabaseStores(
  url: string,
  { seed, connectionCuts = 0 }: Scenario,
  second: string | null = null,
  { isMoving = false }: { isMoving?: boolean } = {},
): Promise<SimStores> {
  const random = new Random(seed, "connections");
  const proxies = new Map<Store, CuttingProxy[]>();
  const left: Promise<void>[] = [];
  const of = (store: Store) => proxies.get(store) ?? [];
  const outside = await openAt(url, second);
  if (second !== null) await outside.databaseAdd({ name: "second", url: second, readUrl: null, createdAt: 1 });
  const operator = patient(outside);
  let moves: ReturnType<typeof startMoves> | null = null;
  const moving: Pick<SimStores, "startMoves" | "endMoves"> = {
    startMoves() {
      moves = startMoves(operator, new Random(seed, "moves"));
    },
    async endMoves() {
      await moves?.end();
      const text = "SELECT count(*)::integer AS moves FROM environment_moves WHERE switched_at IS NOT NULL";
      return (await inDatabase(url, (client) => client.query<{ moves: number }>(text))).rows[0]?.moves ?? 0;
    },
  };
  const leave = (store: Store) => {
    for (const proxy of of(store)) proxy.close();
    left.push(store.stop().catch(() => undefined));
  };
  return {
    ...(isMoving && moving),
    async open() {
      const made = await Promise.all([url, ...(second === null ? [] : [second])].map((address) => openCuttingProxy(address)));
      const store = await openAt(made[0]?.url as string, made[1]?.url ?? null).catch((error: unknown) => {
        for (const proxy of made) proxy.close();
        throw error;
      });
      proxies.set(store, made);
      return store;
    },
    operator: () => operator,
    disturb(store) {
      for (const proxy of of(store)) proxy.cutBy(() => (random.chance(connectionCuts) ? random.pick(["before", "after"] as const) : null));
    },
    // What it had begun to write may still be written.
    crash: leave,
    async close(store) {
      for (const proxy of of(store)) proxy.cutBy(null);
      await store.stop();
      for (const proxy of of(store)) proxy.close();
    },
    // What PostgreSQL has of dead row versions is not looked for.
    traces: async (_, numbers) => [...(await tracesIn(url, numbers)), ...(second === null ? [] : await tracesIn(second, numbers))],
    async read({ environmentId }) {
      return { ...(await readAll(operator, environmentId)), broken: [] };
    },
    async remove() {
      for (const store of proxies.keys()) leave(store);
      left.push(outside.stop());
      await Promise.all(left);
    },
  };
}

/** Asks again while the store cannot be reached: operators only use what returns promises. Its connections are never cut, so nothing that was asked for is done twice. */
function patient(store: Store): Store {
  return new Proxy(store, {
    get(target, name: keyof Store) {
      const member = target[name];
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => trying(() => (member as (...all: unknown[]) => Promise<unknown>).apply(target, args));
    },
  });
}

async function trying<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || tries === OPERATOR_TRIES) throw error;
    }
  }
}

/** In any row of any table. */
async function tracesIn(url: string, numbers: readonly number[]): Promise<number[]> {
  if (numbers.length === 0) return [];
  return inDatabase(url, async (client) => {
    const { rows: tables } = await client.query(
      "SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    );
    const found = new Set<number>();
    for (const { name } of tables as { name: string }[])
      for (const n of numbers) {
        const { rowCount } = await client.query(`SELECT 1 FROM ${name} AS row WHERE row::text LIKE $1 LIMIT 1`, [`%${n}%`]);
        if (rowCount) found.add(n);
      }
    return [...found];
  });
}
