/** A node as a process of its own, with the keys of these tests, and a client of it. */

import type { TestContext } from "node:test";
import { poll } from "./app.ts";
import { type InletProcess, startInlet } from "./process.ts";
import { API_KEY, clientOf, EVENT_KEY, type ServiceClient, SIGNING_KEY } from "./service.ts";

export type Node = InletProcess & ServiceClient;

/** As variables, which flags of a test override. */
const TIMES = {
  /** Short, so that a test does not wait long for what a dead node held; long enough for a busy machine to renew it. */
  INLET_LEASE: "10s",
  INLET_POLL_INTERVAL: "500ms",
};

/** `flags` name the store, and whatever else differs. */
export async function startNode(t: TestContext, flags: readonly string[], env: Record<string, string> = {}): Promise<Node> {
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
  const usual = ["--port", "0", "--host", "127.0.0.1", "--log-level", "warn"];
  const inlet = await startInlet(t, ["start", ...usual, ...keys, ...flags], { ...TIMES, ...env });
  return { ...inlet, ...clientOf(inlet.url) };
}

/** Waits until every node knows this many functions. */
export async function everyNodeKnows(nodes: readonly Node[], count: number): Promise<void> {
  for (const node of nodes) {
    await poll(async () => ((await node.rest("GET", "/functions?limit=100")).body.data.length === count ? true : null), "the functions");
  }
}
