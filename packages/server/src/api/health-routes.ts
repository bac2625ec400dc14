/** `/health`: the process responds. `/ready`: the store is also writable; lists the nodes that share the store. */

import { Refusal } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { iso } from "../observe/run-view.ts";
import { type NamedReplicaReport, replicaReports, type Store } from "../store/contract/index.ts";
import { sendRefusal } from "./rest-errors.ts";

/** A probe writes to the disk, so frequent public requests must not cause frequent writes. */
const PROBE_EVERY_MS = 1_000;

export interface HealthParts {
  store: Pick<Store, "storeProbe" | "storeReport" | "storeNode" | "storeDatabases" | "queueDepths" | "retentionArchiveFailingSince">;
  isDraining(): boolean;
  /** Null: nothing is archived. */
  archive: object | null;
  now: () => number;
}

/** What `/ready` returns in addition to the status. */
interface Cluster {
  store: { engine: string; schema: number; schemaKnown: number; answerMs: number };
  /** How long the oldest due call has waited for a node. */
  lagMs: number;
  /** The node that responds. */
  node: string;
  /** The databases that hold the environments. */
  databases: { name: string; reachable: boolean }[];
  nodes: { name: string; version: string; since: string; lastSeen: string; state: "alive" | "gone" }[];
  /** Read replicas as this node sees them. Why one is not used is in the log: it may name addresses. */
  replicas: Pick<NamedReplicaReport, "database" | "state" | "lagMs">[];
  /** Since when what is to be archived waits; null: nothing does. Absent without an archive. Why is in the log. */
  archive?: { failingSince: string | null };
}

export function registerHealthRoutes(app: FastifyInstance, { store, isDraining, archive, now }: HealthParts): void {
  let last: { at: number; outcome: Promise<Cluster | null> } | null = null;

  async function probe(): Promise<Cluster> {
    await store.storeProbe();
    const failing = archive && store.retentionArchiveFailingSince();
    const [{ nodes, ...kept }, depths, failingSince] = await Promise.all([store.storeReport(), store.queueDepths(), failing]);
    const oldest = Math.min(...depths.map(({ oldestDueAt }) => oldestDueAt ?? Number.POSITIVE_INFINITY));
    return {
      store: kept,
      lagMs: Number.isFinite(oldest) ? Math.max(0, now() - oldest) : 0,
      node: store.storeNode,
      databases: store.storeDatabases().map(({ name, isReachable }) => ({ name, reachable: isReachable })),
      nodes: nodes.map(({ name, version, since, lastSeenAt, isGone }) => ({
        name,
        version,
        since: new Date(since).toISOString(),
        lastSeen: new Date(lastSeenAt).toISOString(),
        state: isGone ? "gone" : "alive",
      })),
      replicas: replicaReports(store).map(({ database, state, lagMs }) => ({ database, state, lagMs })),
      ...(archive && { archive: { failingSince: iso(failingSince) } }),
    };
  }

  /** Null if the store is not writable. */
  function probed(): Promise<Cluster | null> {
    if (!last || now() - last.at >= PROBE_EVERY_MS) last = { at: now(), outcome: probe().catch(() => null) };
    return last.outcome;
  }

  app.get("/health", async () => ({ status: 200, message: "OK" }));
  app.get("/ready", async (_request, reply) => {
    if (isDraining()) return sendRefusal(reply, new Refusal("overloaded", "The service is stopping."));
    const cluster = await probed();
    if (!cluster) return sendRefusal(reply, new Refusal("store_unavailable", "The store cannot be written right now."));
    return { status: 200, message: "OK", ...cluster };
  });
}
