/** Backups: complete for what was acknowledged before, restored whole or not at all, whatever kills the process on the way. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
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

test("a backup of a running service holds everything acknowledged before it, and is restored whole", async (t) => {
  const [dataDir, elsewhere] = [join(temporaryFolder(t), "data"), temporaryFolder(t)];
  const [file, restored] = [join(elsewhere, "one.backup"), join(elsewhere, "restored")];
  const service = await startInlet(t, start(dataDir));
  const before: string[] = [];
  for (let n = 0; n < 20; n++) before.push(await send(service.url, `before/${n}`));
  let isSending = true;
  const during = (async () => {
    while (isSending) await send(service.url, "during", 1_000);
  })();
  const made = await runInlet(t, ["backup", "--to", file, "--data-dir", dataDir, "--json"]);
  isSending = false;
  await during;
  assert.equal(made.code, 0, made.stderr);
  assert.match(JSON.parse(made.stdout).sha256, /^[0-9a-f]{64}$/);
  assert.deepEqual(readdirSync(elsewhere), ["one.backup"], "nothing is left beside it");
  const again = await runInlet(t, ["backup", "--to", file, "--data-dir", dataDir]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /already exists/);
  const sound = await runInlet(t, ["doctor", "--data", "--data-dir", dataDir, "--port", new URL(service.url).port]);
  assert.match(sound.stdout, /data: the whole database was read and is intact/);
  await service.end("SIGKILL");

  const back = await runInlet(t, ["restore", "--from", file, "--data-dir", restored]);
  assert.equal(back.code, 0, back.stderr);
  const revived = await startInlet(t, start(restored));
  for (const id of before) assert.equal(await statusOf(revived.url, id), 200);
  await send(revived.url, "after");
});

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
  assert.match(await restore(Buffer.from("not a backup")), /^1 .*not a backup/);
  assert.match(await restore(bytes, dataDir), /^1 .*not empty/);
  mkdirSync(join(folder, "target"), { recursive: true });
  assert.match(await restore(bytes), /^0 /);
  const { code, stderr } = await runInlet(t, ["backup", "--to", join(folder, "x"), "--data-dir", dataDir], {
    SERVICE_DATABASE_URL: "postgres://localhost/inlet",
  });
  assert.equal(code, 1);
  assert.match(stderr, /pg_dump/);
});

test("killed at any moment, backup and restore leave nothing half done and can be repeated", async (t) => {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const service = await startInlet(t, [...start(dataDir), "--body-limit", "16mb"]);
  const kept = await send(service.url, "kept", 12_000_000);
  for (let n = 0; n < 3; n++) await send(service.url, "filler", 12_000_000);
  const file = join(folder, "killed.backup");
  /** Kills the command as soon as a file of this name has appeared. */
  const killWhen = async (argv: string[], found: () => boolean) => {
    const command = spawnInlet(t, argv);
    await until("the file appears, or the command ends", () => found() || command.child.exitCode !== null || undefined);
    await command.end("SIGKILL");
  };
  for (const part of [`${file}.copy`, `${file}.part`]) {
    await killWhen(["backup", "--to", file, "--data-dir", dataDir], () => existsSync(part));
    if (existsSync(file)) break;
  }
  const whole = join(folder, "whole.backup");
  assert.equal((await runInlet(t, ["backup", "--to", whole, "--data-dir", dataDir])).code, 0);
  if (!existsSync(file)) assert.equal((await runInlet(t, ["backup", "--to", file, "--data-dir", dataDir])).code, 0);
  assert.equal(await statusOf(service.url, kept), 200, "the service was not disturbed");
  await service.end("SIGTERM");

  const target = join(folder, "target");
  await killWhen(["restore", "--from", whole, "--data-dir", target], () => existsSync(join(target, "inlet.db.restoring")));
  if (!existsSync(join(target, "inlet.db"))) {
    assert.equal((await runInlet(t, ["restore", "--from", whole, "--data-dir", target])).code, 0);
  }
  const revived = await startInlet(t, start(target));
  assert.equal(await statusOf(revived.url, kept), 200);
});
