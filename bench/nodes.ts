/**
 * What nodes that share a PostgreSQL cost each other. One node is driven alone, then with others beside it that only wait, then the same
 * connections are spread over all of them. All of it runs on this machine, so where several are driven their CPU time for an event
 * counts, and not how many they accept.
 */

import { type DriveResult, drive, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface NodesOptions {
  /** How many share the database. */
  nodes: number;
  seconds: number;
  rounds: number;
}

const CONNECTIONS = 63;
/** Nodes that wait may cost the first this share of its events. */
const WAITING_GOAL = 0.2;
/** An event may cost this many times the CPU time it costs on one node. */
const SPREAD_GOAL = 1.5;

export async function benchNodes(options: NodesOptions): Promise<Row[]> {
  return inTemporaryFolder(async (folder) => {
    const first = await startInlet(folder);
    try {
      return rowsOf(options.nodes, await rounds(options, first, folder));
    } finally {
      await first.stop();
    }
  });
}

interface Round {
  alone: DriveResult;
  /** The first node, while the others wait. */
  beside: DriveResult;
  /** One for each node. */
  spread: DriveResult[];
}

/** In turn, so that a slow spell of the machine hits all of them. */
async function rounds({ nodes, rounds: count, seconds }: NodesOptions, first: Server, dataDir: string): Promise<Round[]> {
  const send = (node: Server, connections: number) => drive(node, connections, "event", seconds);
  await send(first, CONNECTIONS);
  const done: Round[] = [];
  for (let round = 0; round < count; round++) {
    const alone = await send(first, CONNECTIONS);
    const others = await Promise.all(Array.from({ length: nodes - 1 }, () => startInlet(dataDir)));
    try {
      const beside = await send(first, CONNECTIONS);
      const share = Math.floor(CONNECTIONS / nodes);
      // A node that has just started costs more until it is compiled, which says nothing about nodes that share a database.
      for (const node of others) await send(node, CONNECTIONS);
      const spread = await Promise.all([first, ...others].map((node) => send(node, share)));
      done.push({ alone, beside, spread });
    } finally {
      await Promise.all(others.map((node) => node.stop()));
    }
  }
  return done;
}

function rowsOf(nodes: number, all: readonly Round[]): Row[] {
  const of = (pick: (round: Round) => number) => median(all.map(pick));
  const waiting = 1 - of(({ beside, alone }) => beside.perSecond / alone.perSecond);
  const times = of(({ spread, alone }) => cpuPerEvent(spread) / alone.cpuPerRequest);
  const many = `spread over ${nodes} nodes`;
  const rows: Row[] = [
    { what: "one node alone: single events", value: of(({ alone }) => alone.perSecond), unit: "events/s" },
    { what: "one node beside others that wait: single events", value: of(({ beside }) => beside.perSecond), unit: "events/s" },
    { what: `${many}: single events, all together`, value: of(({ spread }) => perSecond(spread)), unit: "events/s" },
    { what: "one node alone: p50", value: of(({ alone }) => alone.p50Ms), unit: "ms" },
    { what: "one node beside others that wait: p50", value: of(({ beside }) => beside.p50Ms), unit: "ms" },
    { what: "one node alone: CPU per event", value: of(({ alone }) => alone.cpuPerRequest) * 1e6, unit: "µs" },
    { what: `${many}: CPU per event`, value: of(({ spread }) => cpuPerEvent(spread)) * 1e6, unit: "µs" },
  ];
  const cost = "others that wait cost the first, of its events/s";
  rows.push({ what: cost, value: waiting, unit: "×", goal: `≤ ${WAITING_GOAL}`, met: waiting <= WAITING_GOAL });
  rows.push({
    what: `${many}: CPU per event, of that on one`,
    value: times,
    unit: "×",
    goal: `≤ ${SPREAD_GOAL}`,
    met: times <= SPREAD_GOAL,
  });
  return rows;
}

function perSecond(driven: readonly DriveResult[]): number {
  return driven.reduce((sum, each) => sum + each.perSecond, 0);
}

function cpuPerEvent(driven: readonly DriveResult[]): number {
  return driven.reduce((sum, each) => sum + each.perSecond * each.cpuPerRequest, 0) / perSecond(driven);
}
