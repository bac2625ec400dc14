/**
 * What a database in trouble costs the others. Each database is a PostgreSQL server of its own and holds one environment; the last of them
 * stands still, is full, or has its tables locked, while events go to all environments. The p99 of accepting in the others counts, beside
 * that of the same load just before.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { inDatabase, type PostgresServer, startPostgres } from "../packages/server/test/support/postgres-server.ts";
import { post } from "./databases.ts";
import { load, type Server, startInlet } from "./processes.ts";
import { median, type Row } from "./report.ts";
import { inTemporaryFolder } from "./temporary-folder.ts";

export interface IsolationOptions {
  /** With the directory. */
  databases: number;
  seconds: number;
  rounds: number;
}

/** Of each environment on a database without trouble. */
const CONNECTIONS = 8;
/** Requests to the database in trouble come at a pace: whoever is refused does not come back at once. */
const PACE_MS = 20;
/** The load generator measures from here on. */
const WARM_UP_MS = 3_000;
const GOAL = 1.5;
const FILE_BYTES_MAX = 16 * 1024 * 1024;
const LARGE_BYTES = 300_000;

interface Trouble {
  name: string;
  prepare?(): Promise<void>;
  begin(): Promise<void>;
  end(): Promise<void>;
}

interface Scene {
  inlet: Server;
  /** Event keys of the environments on databases without trouble. */
  others: string[];
  /** That of the environment on the last. */
  key: string;
  last: PostgresServer;
}

export async function benchIsolation(options: IsolationOptions): Promise<Row[]> {
  const servers = await Promise.all(Array.from({ length: options.databases - 1 }, () => startPostgres()));
  try {
    return await inTemporaryFolder(async (folder) => {
      const scene = await open(join(folder, "inlet"), servers);
      try {
        const rows: Row[] = [];
        for (const trouble of troublesOf(scene)) rows.push(...(await measure(scene, trouble, options)));
        return rows;
      } finally {
        await scene.inlet.stop();
      }
    });
  } finally {
    await Promise.all(servers.map((server) => server.remove()));
  }
}

async function open(folder: string, servers: readonly PostgresServer[]): Promise<Scene> {
  const inlet = await startInlet(folder);
  const keys = ["bench"];
  for (const [n, { url }] of servers.entries()) {
    const name = `e${n + 1}`;
    await post(inlet, "/databases", { name, url });
    const made = await post<{ keys: { kind: string; key: string }[] }>(inlet, "/environments", { name, database: name });
    keys.push(made.keys.find(({ kind }) => kind === "event")?.key ?? "");
  }
  return { inlet, others: keys.slice(0, -1), key: keys.at(-1) as string, last: servers.at(-1) as PostgresServer };
}

function troublesOf({ inlet, key, last }: Scene): Trouble[] {
  let release: (() => void) | null = null;
  const restart = async (fileBytesMax?: number) => {
    await last.stop();
    await last.start(fileBytesMax === undefined ? {} : { fileBytesMax });
    while ((await send(inlet, key)) !== 200) await pause(PACE_MS);
  };
  return [
    { name: "stands still", begin: () => last.pause(), end: () => last.resume() },
    {
      name: "has its tables locked",
      begin: () =>
        new Promise((resolve, reject) => {
          inDatabase(last.url, async (client) => {
            await client.query("BEGIN; LOCK TABLE events, queue IN ACCESS EXCLUSIVE MODE");
            resolve();
            await new Promise<void>((end) => {
              release = end;
            });
          }).catch(reject);
        }),
      end: async () => release?.(),
    },
    {
      name: "has a full disk",
      prepare: () => restart(FILE_BYTES_MAX),
      begin: async () => {
        while ((await send(inlet, key, LARGE_BYTES)) === 200);
      },
      end: () => restart(),
    },
  ];
}

async function measure(scene: Scene, trouble: Trouble, { seconds, rounds }: IsolationOptions): Promise<Row[]> {
  const measured: { before: number; during: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    await trouble.prepare?.();
    const before = await drive(scene, seconds, async () => undefined);
    const during = await drive(scene, seconds, () => trouble.begin());
    await trouble.end();
    while ((await send(scene.inlet, scene.key)) !== 200) await pause(PACE_MS);
    measured.push({ before, during });
  }
  const times = median(measured.map(({ before, during }) => during / before));
  const what = `one of the databases ${trouble.name}: p99 of the others`;
  return [
    { what: `${what}, before`, value: median(measured.map(({ before }) => before)), unit: "ms" },
    { what: `${what}, during`, value: median(measured.map(({ during }) => during)), unit: "ms" },
    { what: `${what}, of that before`, value: times, unit: "×", goal: `≤ ${GOAL}`, met: times <= GOAL },
  ];
}

/** The p99 of the others, in ms. The trouble begins when the measurement does. */
async function drive({ inlet, others, key }: Scene, seconds: number, begin: () => Promise<void>): Promise<number> {
  const ended = new AbortController();
  const pacing = pace(inlet, key, ended.signal);
  const loads = others.map((other) => load(`${inlet.url}/e/${other}`, CONNECTIONS, "event", seconds));
  const begun = pause(WARM_UP_MS).then(begin);
  const results = await Promise.all(loads);
  await begun;
  ended.abort();
  await pacing;
  const failures = results.reduce((sum, each) => sum + each.failures, 0);
  if (failures > 0) throw new Error(`${failures} requests to databases without trouble failed`);
  return Math.max(...results.map(({ p99Ms }) => p99Ms));
}

async function pace(inlet: Server, key: string, signal: AbortSignal): Promise<void> {
  const sent: Promise<unknown>[] = [];
  while (!signal.aborted) {
    sent.push(send(inlet, key, LARGE_BYTES / 10));
    await pause(PACE_MS);
  }
  await Promise.all(sent);
}

/** The status of the answer. */
async function send({ url }: Server, key: string, bytes = 10): Promise<number> {
  const body = JSON.stringify({ name: "bench/trouble", data: { text: randomBytes(bytes).toString("base64") } });
  const response = await fetch(`${url}/e/${key}`, { method: "POST", headers: { "content-type": "application/json" }, body });
  await response.arrayBuffer();
  return response.status;
}
