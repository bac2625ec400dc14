/** Findings about the nodes that share a store, from `/ready`. A single node has none. */

import { type Finding, ok, problem, warning } from "./finding.ts";

interface Cluster {
  store: { engine: string; schema: number; schemaKnown: number; answerMs: number };
  lagMs: number;
  databases?: { name: string; reachable: boolean }[];
  nodes: { name: string; version: string; since: string; lastSeen: string; state: "alive" | "gone" }[];
  replicas?: { database: string; state: string; lagMs: number | null }[];
  archive?: { failingSince: string | null };
}

const RESPONSE_MS_WARNING = 250;
const LAG_MS_WARNING = 60_000;

export function checkCluster(ready: unknown): Finding[] {
  // Older versions do not report this.
  const { store, nodes, lagMs, databases = [], replicas = [], archive } = ready as Partial<Cluster>;
  if (!store || !nodes || store.engine !== "postgres") return [];
  const added = [
    ...(databases.length > 1 ? databases.map(checkDatabase) : []),
    ...replicas.map(checkReplica),
    ...(archive ? [checkArchive(archive)] : []),
  ];
  return [checkStore(store), ...added, checkLag(lagMs ?? 0), ...nodes.map(checkNode), ...checkVersions(nodes)];
}

function checkStore({ schema, schemaKnown, answerMs }: Cluster["store"]): Finding {
  const newer = schema > schemaKnown ? `; the responding node knows ${schemaKnown}, so it is older than others` : "";
  const text = `PostgreSQL, schema ${schema}${newer}, responds in ${answerMs} ms`;
  if (answerMs < RESPONSE_MS_WARNING) return ok("store", text);
  return warning("store", text, "Every accepted event waits for it. Check the load of PostgreSQL and the network.");
}

function checkDatabase({ name, reachable }: NonNullable<Cluster["databases"]>[number]): Finding {
  const check = `database ${name}`;
  if (reachable) return ok(check, "reachable");
  const advice = 'Check the server and the network to it. "inlet databases list" shows the environments that wait for it.';
  return problem(check, "the responding node cannot reach it; requests of its environments are refused with 503", advice);
}

function checkLag(lagMs: number): Finding {
  const text = lagMs === 0 ? "no due calls are waiting" : `the oldest due call has been waiting for ${seconds(lagMs)}`;
  if (lagMs < LAG_MS_WARNING) return ok("lag", text);
  return warning("lag", text, "Add nodes, raise --app-calls, or check for slow apps and concurrency limits.");
}

function checkNode({ name, version, since, lastSeen, state }: Cluster["nodes"][number]): Finding {
  const check = `node ${name}`;
  if (state === "alive") return ok(check, `version ${version}, since ${since}, last seen ${lastSeen}`);
  const advice = "The node crashed. Other nodes claimed its work. Start a new node if there are too few.";
  return warning(check, `gone: version ${version}, since ${since}, last seen ${lastSeen}`, advice);
}

function checkReplica({ database, state, lagMs }: NonNullable<Cluster["replicas"]>[number]): Finding {
  const check = `read replica of ${database}`;
  if (state === "used") return ok(check, "answers lists, searches and figures");
  const behind = state === "behind" && lagMs !== null ? ` by ${seconds(lagMs)}` : "";
  const advice =
    "The primary answers lists, searches and figures. The log of the node says why; check --database-read-url and replication.";
  return warning(check, `not used: ${state}${behind}`, advice);
}

function checkArchive({ failingSince }: NonNullable<Cluster["archive"]>): Finding {
  if (failingSince === null) return ok("archive", "nothing waits to be written");
  const advice = "Old partitions stay in the store until it can. The log says why; check --archive, its credentials and its room.";
  return warning("archive", `cannot be written since ${failingSince}`, advice);
}

function checkVersions(nodes: Cluster["nodes"]): Finding[] {
  const versions = [...new Set(nodes.filter(({ state }) => state === "alive").map(({ version }) => version))];
  if (versions.length < 2) return [];
  const advice = "Expected during an upgrade. Only two consecutive releases can share a database.";
  return [warning("versions", `nodes run ${versions.sort().join(" and ")}`, advice)];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
