/** What a soak watches: memory and file handles of the nodes, the size of the store, and how long the oldest call has been due. */

import { globSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { inDatabase } from "../../packages/server/test/support/postgres-server.ts";
import { API_KEY, type Node } from "./processes.ts";

const MIB = 1024 * 1024;

export interface Sample {
  at: number;
  /** Of the node that needs most. */
  memoryMib: number;
  handles: number;
  diskMib: number;
  lagSeconds: number;
}

/** Null when a node could not be asked. */
export async function sampleNode(nodes: readonly Node[], databaseUrl: string | null): Promise<Sample | null> {
  try {
    const each = await Promise.all(nodes.map(async (node) => ({ ...processFigures(node.pid()), lagSeconds: await lagOf(node.url) })));
    return {
      at: Date.now(),
      memoryMib: Math.max(...each.map(({ memoryMib }) => memoryMib)),
      handles: Math.max(...each.map(({ handles }) => handles)),
      diskMib: (databaseUrl ? await databaseBytes(databaseUrl) : folderBytes(nodes[0]?.dataDir ?? "")) / MIB,
      lagSeconds: Math.max(...each.map(({ lagSeconds }) => lagSeconds)),
    };
  } catch {
    return null;
  }
}

/** A line of the table, or its head. */
export function sampleText(sample: Sample | null, startedAt: number): string {
  const cells = sample
    ? [
        ((sample.at - startedAt) / 60_000).toFixed(1),
        sample.memoryMib.toFixed(0),
        sample.handles,
        sample.diskMib.toFixed(1),
        sample.lagSeconds.toFixed(2),
      ]
    : ["minute", "memory MiB", "handles", "disk MiB", "lag s"];
  return cells.map((cell) => String(cell).padStart(11)).join("");
}

/** Read from /proc, so a soak runs on Linux. */
function processFigures(pid: number): { memoryMib: number; handles: number } {
  const [, kib = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return { memoryMib: Number(kib) / 1024, handles: readdirSync(`/proc/${pid}/fd`).length };
}

async function lagOf(url: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${API_KEY}` } });
  if (!response.ok) throw new Error(`/metrics answered with ${response.status}`);
  const ages = [...(await response.text()).matchAll(/^inlet_queue_age_seconds\{[^}]*\} (\S+)$/gm)].map(([, age]) => Number(age));
  return Math.max(0, ...ages);
}

function folderBytes(folder: string): number {
  return globSync("**/*", { cwd: folder }).reduce(
    (sum, file) => sum + (statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

async function databaseBytes(url: string): Promise<number> {
  return inDatabase(url, async (client) =>
    Number((await client.query("SELECT pg_database_size(current_database()) AS bytes")).rows[0].bytes),
  );
}
