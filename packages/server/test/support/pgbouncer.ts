/** PgBouncer itself in transaction mode, where it is installed: npm has none. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { freePort } from "./free-port.ts";
import { onEnd } from "./on-end.ts";
import { inDatabase, NOBODY } from "./postgres-server.ts";

const PROGRAM = "pgbouncer";
const READY_WITHIN_MS = 60_000;

export interface PgBouncer {
  /** Of the same database, through PgBouncer. */
  url: string;
  /** What it counted so far: transactions, and connections to PostgreSQL. */
  counts(): Promise<{ transactions: number; connections: number }>;
}

/** Null, or the reason a test is skipped for. */
export function whyNoPgBouncer(): string | null {
  return spawnSync(PROGRAM, ["--version"]).status === 0 ? null : "pgbouncer is not installed";
}

export async function startPgBouncer(t: TestContext, databaseUrl: string, connections: number): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), "inlet-pgbouncer-"));
  const port = await freePort();
  const { hostname, port: postgresPort, username, pathname } = new URL(databaseUrl);
  writeFileSync(
    join(folder, "pgbouncer.ini"),
    `[databases]
* = host=${hostname} port=${postgresPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, "users")}
admin_users = ${username}
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 100
`,
  );
  writeFileSync(join(folder, "users"), `"${username}" ""\n`);
  // It refuses to run as root, as PostgreSQL does.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(PROGRAM, ["-q", join(folder, "pgbouncer.ini")], { ...user, stdio: "ignore" });
  onEnd(t, async () => {
    const ended = child.exitCode === null ? once(child, "exit") : null;
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const at = (database: string) => `postgres://${username}@127.0.0.1:${port}/${database}`;
  const show = async (what: string) => (await inDatabase(at("pgbouncer"), (client) => client.query(`SHOW ${what}`))).rows;
  await untilItAnswers(() => show("VERSION"));
  return {
    url: at(pathname.slice(1)),
    async counts() {
      const database = pathname.slice(1);
      const stats = (await show("STATS_TOTALS")).find((row) => row.database === database);
      const servers = (await show("SERVERS")).filter((row) => row.database === database);
      return { transactions: Number(stats?.xact_count ?? 0), connections: servers.length };
    },
  };
}

async function untilItAnswers(ask: () => Promise<unknown>): Promise<void> {
  for (const deadline = Date.now() + READY_WITHIN_MS; ; ) {
    try {
      await ask();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
