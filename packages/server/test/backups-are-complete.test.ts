/** Backups: complete for what was acknowledged before, restored whole or not at all, whatever kills the process on the way. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { HEADER_BYTES } from "../src/store/sqlite/backup/backup-file.ts";
import { makeBackup } from "../src/store/sqlite/backup/make-backup.ts";
import { restoreBackup } from "../src/store/sqlite/backup/restore-backup.ts";
import { onEnd } from "./support/on-end.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { runInlet, spawnInlet, startInlet } from "./support/process.ts";
import { until } from "./support/runs.ts";
import { API_KEY, call, EVENT_KEY, temporaryFolder } from "./support/service.ts";

const KEYS = ["--event-key", EVENT_KEY, "--api-key", API_KEY];
const start = (dataDir: string) => ["start", "--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir, ...KEYS];

async function send(url: string, name: string, size = 10): Promise<string> {
  const body = JSON.stringify({ name, data: { text: "x".repeat(size) } });
  const answer = await call(`${url}/e/${EVENT_KEY}`, { method: "POST", body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.ids[0];
}

const statusOf = async (url: string, id: string) =>
  (await call(`${url}/v1/events/${id}`, { headers: { authorization: `Bearer ${API_KEY}` } })).status;

/** The commands of docs/how-to/operation.md that begin with a program's name, with its paths moved to a folder of the test. */
function guideCommands(program: string, moved: (text: string) => string): string[] {
  const guide = readFileSync(new URL("../../../docs/how-to/operation.md", import.meta.url), "utf8");
  const [, section = ""] = /^## Backups\n([\s\S]*?)^## /m.exec(guide) ?? [];
  return [...section.matchAll(new RegExp(`^# (${program} .*)$`, "gm"))].map(([, command = ""]) => moved(command));
}

test("a backup of a running service holds everything acknowledged before it, and is restored whole", async (t) => {
  const [dataDir, elsewhere] = [join(temporaryFolder(t), "data"), temporaryFolder(t)];
  const [file, restored] = [join(elsewhere, "inlet-monday.backup"), join(elsewhere, "restored")];
  const moved = (text: string) =>
    text.replace("/backups", elsewhere).replace("/var/lib/inlet-restored", restored).replace("/var/lib/inlet", dataDir);
  const [toBackUp = [], toRestore = [], toVerify = []] = guideCommands("inlet", moved).map((command) => command.split(" ").slice(1));
  const service = await startInlet(t, start(dataDir));
  const before: string[] = [];
  for (let n = 0; n < 20; n++) before.push(await send(service.url, `before/${n}`));
  let isSending = true;
  const during = (async () => {
    while (isSending) await send(service.url, "during", 1_000);
  })();
  const made = await runInlet(t, [...toBackUp, "--json"]);
  isSending = false;
  await during;
  assert.equal(made.code, 0, made.stderr);
  assert.match(JSON.parse(made.stdout).sha256, /^[0-9a-f]{64}$/);
  assert.deepEqual(readdirSync(elsewhere), ["inlet-monday.backup"], "nothing is left beside it");
  const again = await runInlet(t, ["backup", "--to", file, "--data-dir", dataDir]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /already exists/);
  const back = await runInlet(t, toRestore);
  assert.equal(back.code, 0, back.stderr);
  const nowhere = ["--port", "0", "--url", "http://127.0.0.1:9"];
  const sound = await runInlet(t, [...toVerify, ...nowhere]);
  assert.equal(sound.code, 0, sound.stdout);
  assert.match(sound.stdout, /data: the whole database was read and is intact/);
  await service.end("SIGKILL");
  const revived = await startInlet(t, start(restored));
  for (const id of before) assert.equal(await statusOf(revived.url, id), 200);
  await send(revived.url, "after");
});

/** The same backup with another schema version, which SQLite keeps in the header of its file. */
function ofNewerRelease(backup: Buffer): Buffer {
  const database = Buffer.from(backup.subarray(HEADER_BYTES));
  database.writeUInt32BE(9_999, 60);
  const header = JSON.parse(backup.toString("utf8", 0, HEADER_BYTES));
  const text = JSON.stringify({ ...header, sha256: createHash("sha256").update(database).digest("hex") });
  return Buffer.concat([Buffer.from(`${text.padEnd(HEADER_BYTES - 1)}\n`), database]);
}

test("a damaged file, one that is none, and a folder that is not empty are refused", async (t) => {
  const folder = temporaryFolder(t);
  const [dataDir, file] = [join(folder, "data"), join(folder, "one.backup")];
  const service = await startInlet(t, start(dataDir));
  await send(service.url, "needle", 5_000);
  await service.end("SIGTERM");
  assert.equal((await runInlet(t, ["backup", "--to", file, "--data-dir", dataDir])).code, 0);
  const bytes = readFileSync(file);
  const restore = async (content: Buffer, target = join(folder, "target")) => {
    writeFileSync(join(folder, "tried"), content);
    const { code, stderr } = await runInlet(t, ["restore", "--from", join(folder, "tried"), "--data-dir", target]);
    assert.equal(existsSync(join(target, "inlet.db")), target === dataDir || code === 0);
    return `${code} ${stderr}`;
  };
  // One bit within the text of a payload: SQLite itself would not notice.
  const flipped = Buffer.from(bytes);
  flipped.writeUInt8(0x79, bytes.indexOf("xxxxxxxx") + 100);
  assert.match(await restore(flipped), /^1 .*checksum/);
  assert.match(await restore(bytes.subarray(0, bytes.length - 1)), /^1 .*damaged/);
  assert.match(await restore(bytes.subarray(0, 1_000)), /^1 .*(?:holds 0 bytes|not a backup)/, "less than its header");
  assert.match(await restore(Buffer.from("not a backup")), /^1 .*not a backup/);
  if (process.platform === "linux") assert.match(await restore(bytes, "/proc/x"), /^1 .*could not be restored: .*\/proc\/x/, "at once");
  assert.match(await restore(bytes, dataDir), /^1 .*not empty/);
  writeFileSync(join(folder, "newer"), ofNewerRelease(bytes));
  const restoreNewer = () => restoreBackup({ from: join(folder, "newer"), folder: join(folder, "target") });
  assert.throws(restoreNewer, /schema 9999; this program knows \d+\. Use the newer version of Inlet/);
  assert.match(await restore(bytes, join(folder, "tried")), /^1 error: the backup could not be restored: ENOTDIR/);
  mkdirSync(join(folder, "target"), { recursive: true });
  assert.match(await restore(bytes), /^0 /);
  const damaged = readFileSync(join(folder, "target/inlet.db")).fill(0xa5, 4_096 * 2, 4_096 * 12);
  writeFileSync(join(folder, "target/inlet.db"), damaged);
  const verified = await runInlet(t, [
    "doctor",
    "--data",
    "--data-dir",
    join(folder, "target"),
    "--port",
    "0",
    "--url",
    "http://127.0.0.1:9",
  ]);
  assert.equal(verified.code, 1);
  assert.match(verified.stdout, /^problem {2}data: .*\n.*restore the last backup with inlet restore/m);
  const backUp = (from: string) => makeBackup({ folder: from, to: join(folder, "x") });
  await assert.rejects(backUp(join(folder, "none")), /there is no store in .*; see --data-dir/);
  await assert.rejects(backUp(file), /cannot be read by this user: ENOTDIR/);
  const { code, stderr } = await runInlet(t, ["backup", "--to", join(folder, "x"), "--data-dir", dataDir], {
    INLET_DATABASE_URL: "postgres://localhost/inlet",
  });
  assert.equal(code, 1);
  assert.match(stderr, /pg_dump/);
});

/** Of the installed pg_dump; 0 without one. It copies databases of servers that are not newer than itself. */
function dumpMajor(): number {
  return Number(/(\d+)/.exec(spawnSync("pg_dump", ["--version"], { encoding: "utf8" }).stdout ?? "")?.[1] ?? 0);
}

const whyNoDump = () => whyNoPostgres() ?? (dumpMajor() === 0 ? "pg_dump is not installed here" : false);

test("postgres: what pg_dump writes while a node runs is restored whole, and a node starts on it", { skip: whyNoDump() }, async (t) => {
  const [databaseUrl, elsewhere] = [await migratedDatabase(t), temporaryFolder(t)];
  const serverMajor = await inDatabase(databaseUrl, async (client) =>
    Number.parseInt((await client.query("SHOW server_version")).rows[0].server_version, 10),
  );
  if (dumpMajor() < serverMajor) return t.skip("the pg_dump that is installed here is older than the server");
  const name = `inlet_restored_${process.pid}`;
  const RESTORED_DATABASE_URL = Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href;
  const flags = (url: string) => [...start(temporaryFolder(t)), "--database-url", url];
  const node = await startInlet(t, flags(databaseUrl));
  const kept = await send(node.url, "kept");
  const moved = (text: string) => text.replace("/backups", elsewhere).replace(/\binlet_restored\b/, name);
  onEnd(t, () => inDatabase(databaseUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)));
  for (const command of guideCommands("(?:pg_dump|createdb|pg_restore)", moved)) {
    const env = { ...process.env, INLET_DATABASE_URL: databaseUrl, RESTORED_DATABASE_URL };
    const { status, stderr } = spawnSync("sh", ["-c", command], { env, encoding: "utf8" });
    assert.equal(status, 0, `${command}\n${stderr}`);
  }
  await node.end("SIGTERM");
  const revived = await startInlet(t, flags(RESTORED_DATABASE_URL));
  assert.equal(await statusOf(revived.url, kept), 200);
  await send(revived.url, "after");
  await revived.end("SIGTERM");
});

test("killed at any moment, backup and restore leave nothing half done and can be repeated", async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const service = await startInlet(t, [...start(dataDir), "--body-limit", "16mb"]);
  const kept = await send(service.url, "kept", 12_000_000);
  for (let n = 0; n < 3; n++) await send(service.url, "filler", 12_000_000);
  const file = join(folder, "killed.backup");
  /** Kills the command as soon as a file of this name has appeared. */
  const killWhen = async (argv: string[], found: (pid: number | undefined) => boolean) => {
    const command = spawnInlet(t, argv);
    await until("the file appears, or the command ends", () => found(command.child.pid) || command.child.exitCode !== null || undefined);
    await command.end("SIGKILL");
  };
  for (const part of ["copy", "backup"]) {
    await killWhen(["backup", "--to", file, "--data-dir", dataDir], (pid) => partOf(file, String(pid), part));
    if (existsSync(file)) break;
  }
  const whole = join(folder, "whole.backup");
  assert.equal((await runInlet(t, ["backup", "--to", whole, "--data-dir", dataDir])).code, 0);
  if (!existsSync(file)) assert.equal((await runInlet(t, ["backup", "--to", file, "--data-dir", dataDir])).code, 0);
  assert.equal(await statusOf(service.url, kept), 200, "the service was not disturbed");
  await service.end("SIGTERM");
  assert.deepEqual(readdirSync(folder).sort(), ["data", "killed.backup", "whole.backup"], "what the killed ones left was removed");

  const target = join(folder, "target");
  await killWhen(["restore", "--from", whole, "--data-dir", target], () => existsSync(join(target, "inlet.db.restoring")));
  if (!existsSync(join(target, "inlet.db"))) {
    assert.equal((await runInlet(t, ["restore", "--from", whole, "--data-dir", target])).code, 0);
  }
  const revived = await startInlet(t, start(target));
  assert.equal(await statusOf(revived.url, kept), 200);
});

test("two backups to one file by processes of the same id, as in two containers: one is made, whole", async (t) => {
  const folder = temporaryFolder(t);
  const [dataDir, file] = [join(folder, "data"), join(folder, "one.backup")];
  const service = await startInlet(t, [...start(dataDir), "--body-limit", "16mb"]);
  for (let n = 0; n < 3; n++) await send(service.url, "kept", 12_000_000);
  await service.end("SIGTERM");
  const options = { folder: dataDir, to: file };
  const module = new URL("../src/store/sqlite/backup/make-backup.ts", import.meta.url).href;
  // A thread of this process has its id.
  const code = `import("${module}").then(({ makeBackup }) => makeBackup(require("node:worker_threads").workerData))`;
  const other = new Worker(code, { eval: true, workerData: options });
  const ended = new Promise<unknown>((resolve) => other.once("error", resolve).once("exit", resolve));
  while (!partOf(file, "\\d+", "copy") && !existsSync(file)) await setImmediate();
  const own = await makeBackup(options).then(() => 0, String);
  const outcomes = [own, String(await ended)];
  assert.ok(outcomes.map(String).includes("0"), outcomes.join("\n"));
  restoreBackup({ from: file, folder: join(folder, "restored") });
  assert.deepEqual(readdirSync(folder).sort(), ["data", "one.backup", "restored"]);
});

/** Whether a backup to the file, by a process of this id, has made the named file of its folder. */
function partOf(file: string, pid: string, name: string): boolean {
  const made = new RegExp(`^${basename(file)}\\.part-${pid}(-|$)`);
  return readdirSync(dirname(file)).some((folder) => made.test(folder) && existsSync(join(dirname(file), folder, name)));
}

test("a backup contains nothing of what is left in unused space of the file", async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  await (await startInlet(t, start(dataDir))).end("SIGTERM");
  const file = join(dataDir, "inlet.db");
  const db = new DatabaseSync(file);
  db.exec("PRAGMA secure_delete = OFF; CREATE TABLE moved (text TEXT)");
  db.exec("INSERT INTO moved VALUES ('long forgotten'); DELETE FROM moved; PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  assert.ok(readFileSync(file).includes("long forgotten"), "the file still has it");
  const backup = join(folder, "later.backup");
  await makeBackup({ folder: dataDir, to: backup });
  assert.ok(!readFileSync(backup).includes("long forgotten"));
});

test("a backup is private, whatever others have prepared where it is made", async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const service = await startInlet(t, start(dataDir));
  await service.end("SIGTERM");
  const bait = join(folder, "bait");
  const prepare: Record<string, (part: string) => void> = {
    file: (part) => writeFileSync(part, "", { mode: 0o666 }),
    link: (part) => symlinkSync(bait, part),
    "link to a folder": (part) => symlinkSync(folder, part),
    folder: (part) => mkdirSync(part, { mode: 0o777 }),
  };
  for (const [what, make] of Object.entries(prepare)) {
    const file = join(folder, `${what}.backup`);
    writeFileSync(bait, "", { mode: 0o666 });
    for (const part of [`${file}.part`, `${file}.part-${process.pid}`]) make(part);
    await makeBackup({ folder: dataDir, to: file });
    assert.deepEqual([statSync(file).mode & 0o777, lstatSync(file).isFile()], [0o600, true], what);
    assert.equal(readFileSync(bait, "utf8"), "", `${what}: nothing was written elsewhere`);
    assert.ok(existsSync(join(dataDir, "inlet.db")), `${what}: nothing was removed elsewhere`);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes(".part")),
      [],
    );
  }
});

test("two backups to one file at once: one is made, whole, and the other is refused", async (t) => {
  const folder = temporaryFolder(t);
  const [dataDir, file] = [join(folder, "data"), join(folder, "one.backup")];
  const service = await startInlet(t, [...start(dataDir), "--body-limit", "16mb"]);
  const kept = await send(service.url, "kept", 12_000_000);
  await service.end("SIGTERM");
  await makeBackup({ folder: dataDir, to: file });
  const { target, restore, restoring, exited } = await stoppedRestore(t, folder, file);
  for (const argv of [start(target), restore]) {
    const { code, stderr } = await runInlet(t, argv);
    assert.deepEqual([code, /is in use by another Inlet process \(pid \d+\)/.test(stderr)], [1, true], stderr);
  }
  restoring.child.kill("SIGCONT");
  assert.deepEqual(await exited, [0, null], restoring.stderr());
  assert.equal(await statusOf((await startInlet(t, start(target))).url, kept), 200);
});

/** A restore that was stopped in its middle: whatever starts now meets one that is under way. One that was too quick is tried again. */
async function stoppedRestore(t: TestContext, folder: string, file: string) {
  for (let attempt = 1; attempt <= 20; attempt++) {
    const target = join(folder, `target-${attempt}`);
    const part = join(target, "inlet.db.restoring");
    const restore = ["restore", "--from", file, "--data-dir", target];
    const restoring = spawnInlet(t, restore);
    const exited = once(restoring.child, "exit");
    while (!existsSync(part) && restoring.child.exitCode === null) await setImmediate();
    restoring.child.kill("SIGSTOP");
    if (existsSync(part)) return { target, restore, restoring, exited };
    restoring.child.kill("SIGCONT");
    assert.deepEqual(await exited, [0, null], restoring.stderr());
  }
  return assert.fail("no restore took long enough to be stopped");
}
