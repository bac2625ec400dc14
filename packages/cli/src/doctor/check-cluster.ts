/** What `/ready` tells of the nodes that share a store, as findings. A service with a store of its own has nothing to tell. */

import { type Finding, ok, warning } from "./finding.ts";

interface Cluster {
  store: { engine: string; schema: number; schemaKnown: number; answerMs: number };
  lagMs: number;
  nodes: { name: string; version: string; since: string; lastSeen: string; state: "alive" | "gone" }[];
}

const ANSWER_MS_WARNING = 250;
const LAG_MS_WARNING = 60_000;

export function checkCluster(ready: unknown): Finding[] {
  // A service of an older version says nothing of this.
  const { store, nodes, lagMs } = ready as Partial<Cluster>;
  if (!store || !nodes || store.engine !== "postgres") return [];
  return [checkStore(store), checkLag(lagMs ?? 0), ...nodes.map(checkNode), ...checkVersions(nodes)];
}

function checkStore({ schema, schemaKnown, answerMs }: Cluster["store"]): Finding {
  const newer = schema > schemaKnown ? `; the node that answered knows ${schemaKnown}, so it is older than others` : "";
  const text = `PostgreSQL, schema ${schema}${newer}, answers in ${answerMs} ms`;
  if (answerMs < ANSWER_MS_WARNING) return ok("store", text);
  return warning("store", text, "Every accept waits for it: look at the load of PostgreSQL and at the network between.");
}

function checkLag(lagMs: number): Finding {
  const text = lagMs === 0 ? "nothing that is due waits for a node" : `the oldest call that is due has waited ${seconds(lagMs)}`;
  if (lagMs < LAG_MS_WARNING) return ok("lag", text);
  return warning("lag", text, "Add nodes, raise --app-calls, or see whether an app is slow or a concurrency limit holds it up.");
}

function checkNode({ name, version, since, lastSeen, state }: Cluster["nodes"][number]): Finding {
  const check = `node ${name}`;
  if (state === "alive") return ok(check, `version ${version}, since ${since}, last seen ${lastSeen}`);
  const advice = "It was not stopped but ended. Others took over what it held; start a new one if there are too few.";
  return warning(check, `gone: version ${version}, since ${since}, last seen ${lastSeen}`, advice);
}

function checkVersions(nodes: Cluster["nodes"]): Finding[] {
  const versions = [...new Set(nodes.filter(({ state }) => state === "alive").map(({ version }) => version))];
  if (versions.length < 2) return [];
  const advice = "While a cluster is renewed that is as it should be; two releases that follow each other may work side by side.";
  return [warning("versions", `nodes run ${versions.sort().join(" and ")}`, advice)];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
