/**
 * Files of the archive that are cut, garbled, of another kind or of a newer version: whoever reads them is told so, and nobody overwrites
 * them. The node goes on. Nothing is written outside of the archive.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readFile, symlink, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { fileName } from "../src/archive/file-names.ts";
import { FileSurvey } from "../src/archive/file-survey.ts";
import { COLUMNS } from "../src/archive/files/columns.ts";
import { DecoderProcess } from "../src/archive/files/decoder-process.ts";
import { schemaOf } from "../src/archive/files/parquet-values.ts";
import { rowsOf } from "../src/archive/files/read-file.ts";
import { writeFile as writeArchived } from "../src/archive/files/write-file.ts";
import { listArchivedEvents } from "../src/archive/list-events.ts";
import { type ArchiveTarget, ArchiveUnavailable } from "../src/archive/targets/archive-target.ts";
import { folderTarget } from "../src/archive/targets/folder-target.ts";
import type { ArchivedRow, Environment } from "../src/store/contract/index.ts";
import { archiveFolder, decoder } from "./support/archive-scene.ts";
import { attackInRounds, attackPlan, attackTimeoutMs, type Random } from "./support/attacks/attack-plan.ts";

const DAY = 20_000;
const ROUNDS = 30;
/** A seed of a file that has nulls where there can be none. */
const WITH_NULLS = 5_151;
const FILE = fileName("production", "events", DAY);
const PRODUCTION = { id: 1 as EnvironmentId, name: "production" } as Environment;

function rowOf(n: number): ArchivedRow {
  const ids = { sequence: n, event_id: `01ARYZ6S41${String(n).padStart(16, "0")}`, name: "shop/order.paid" };
  const times = { ts: DAY * 86_400_000 + n, received_at: DAY * 86_400_000 + n };
  return { environment: "production", ...ids, ...times, source_kind: "key", source_id: "k", duplicates: 0, matched: 1, data: `{"n":${n}}` };
}

async function archived(t: TestContext, rows = 50): Promise<{ target: ArchiveTarget; folder: string; bytes: Buffer; path: string }> {
  const folder = await archiveFolder(t);
  const target = folderTarget(folder);
  async function* all() {
    for (let n = 1; n <= rows; n++) yield rowOf(n);
  }
  const upload = await target.create(FILE);
  await writeArchived("events", all(), upload);
  await upload.finish(() => undefined);
  const path = join(folder, FILE);
  return { target, folder, path, bytes: await readFile(path) };
}

const listed = (target: ArchiveTarget, parser = decoder) => listArchivedEvents({ target, decoder: parser }, PRODUCTION, { limit: 100 });

/** By everyone who reads files. */
async function readAll(target: ArchiveTarget, parser = decoder): Promise<void> {
  await listed(target, parser);
  await new FileSurvey({ target, decoder: parser }).files(PRODUCTION, "events");
  const file = await target.open(FILE);
  try {
    if (file) for await (const row of rowsOf(parser, "events", file)) assert.ok(row);
  } finally {
    await file?.close();
  }
}

async function failureOf(target: ArchiveTarget, parser = decoder): Promise<string> {
  const error = await readAll(target, parser).then(
    () => assert.fail("it was read"),
    (failure: unknown) => failure,
  );
  assert.ok(error instanceof ArchiveUnavailable, String(error));
  return error.message;
}

test("a file that is cut is refused by its name, wherever it is cut", async (t) => {
  const { target, path, bytes } = await archived(t);
  assert.equal((await listed(target)).events.length, 50);
  for (const length of [0, 1, 4, 7, 8, 12, Math.floor(bytes.length / 2), bytes.length - 5, bytes.length - 1]) {
    await writeFile(path, bytes.subarray(0, length));
    assert.match(await failureOf(target), /production\/events\/2024-10-04\.parquet/, `${length} bytes`);
  }
});

test("a file that claims to need more memory than any file does is refused", async (t) => {
  const { target, path, bytes } = await archived(t);
  // The length of the footer is in front of the last four bytes. A sparse file takes no room.
  await truncate(path, 0);
  await truncate(path, 3 * 2 ** 30);
  const end = Buffer.alloc(8);
  end.writeUInt32LE(2 ** 31, 0);
  bytes.copy(end, 4, bytes.length - 4);
  await writeFile(path, end, { flag: "a" });
  assert.match(await failureOf(target), /it refers to bytes that it cannot have/);
});

/** Bytes that make the parser loop: their offset, what is there, and what makes it loop. `npm run attack` finds others. */
const LOOPING = [
  [1_243, 4, 165],
  [1_127, 4, 222],
] as const;

test("a file on which the parser loops or takes too much memory is refused, and the next file is read", async (t) => {
  const { target, path, bytes } = await archived(t);
  const limits = [{ cpuMs: 1_500 }, { cpuMs: Number.POSITIVE_INFINITY, memoryBytes: 1 }];
  for (const [n, [offset, before, after]] of LOOPING.entries()) {
    const limited = new DecoderProcess(limits[n]);
    t.after(() => limited.stop());
    const garbled = Buffer.from(bytes);
    assert.equal(garbled[offset], before, "the library writes other files: find other bytes");
    garbled[offset] = after;
    await writeFile(path, garbled);
    const refused =
      /^production\/events\/2024-10-04\.parquet cannot be read: it takes more time or memory than a file of the archive can take/;
    assert.match(await failureOf(target, limited), refused);
    await writeFile(path, bytes);
    if (n === 0) assert.equal((await listed(target, limited)).events.length, 50, "by another process");
  }
});

test("a file with other bytes is read or refused, and nothing else happens", { timeout: attackTimeoutMs() }, async (t) => {
  const { target, path, bytes } = await archived(t);
  const patient = new DecoderProcess({ cpuMs: 5_000 });
  t.after(() => patient.stop());
  const garble = async (random: Random) => {
    const garbled = Buffer.from(bytes);
    for (let changes = 1 + random.below(3); changes > 0; changes--) garbled[random.below(garbled.length)] = random.below(256);
    await writeFile(path, garbled);
    await readAll(target, patient).catch((error: unknown) => assert.ok(error instanceof ArchiveUnavailable, String(error)));
  };
  await attackInRounds({ seed: WITH_NULLS, durationMs: 0, roundsMin: 1 }, garble);
  await attackInRounds(attackPlan(ROUNDS), garble);
  await writeFile(path, bytes);
  assert.equal((await listed(target)).events.length, 50);
});

test("what asks for a file after the service has stopped is told so", async (t) => {
  const { target } = await archived(t);
  const stopped = new DecoderProcess();
  stopped.stop();
  await assert.rejects(listed(target, stopped), /the service stops/);
});

test("folders, pipes and links in place of a file are refused or replaced, and lead nowhere", async (t) => {
  const { target, folder } = await archived(t);
  const [pipe, inside, link] = [21, 22, 23].map((n) => join(folder, fileName("production", "events", DAY + n))) as [string, string, string];
  execFileSync("mkfifo", [pipe]);
  await assert.rejects(listed(target), /is not a file/);
  execFileSync("rm", [pipe]);
  await mkdir(inside);
  await assert.rejects(listed(target), /is not a file/);
  execFileSync("rmdir", [inside]);

  const outside = join(await archiveFolder(t), "outside");
  await writeFile(outside, "secret of somebody else");
  await symlink(outside, link);
  const message = await listed(target).then(
    () => assert.fail("it was read"),
    (error: Error) => error.message,
  );
  assert.doesNotMatch(message, /secret/);
  const upload = await target.create(fileName("production", "events", DAY + 23));
  await upload.append(Buffer.from("new"));
  await upload.finish(() => undefined);
  assert.deepEqual([await readFile(outside, "utf8"), await readFile(link, "utf8")], ["secret of somebody else", "new"]);
});

test("a file with columns of a newer version is listed, and never written anew without them", async (t) => {
  const { target, path } = await archived(t);
  const writer = new ByteWriter();
  const schema = schemaOf("events");
  const extra = { name: "region", type: "BYTE_ARRAY", converted_type: "UTF8", repetition_type: "OPTIONAL" } as const;
  const [root, ...known] = schema;
  const parquet = new ParquetWriter({ writer, schema: [{ ...root, name: "root", num_children: known.length + 1 }, ...known, extra] });
  const row = rowOf(1);
  const data = COLUMNS.events.map(({ name, type }) => {
    const value = row[name] ?? null;
    return { name, data: [type === "flag" ? true : typeof value === "number" ? BigInt(value) : value] };
  });
  await parquet.write({ columnData: [...data, { name: "region", data: ["eu"] }] });
  await parquet.finish();
  await writeFile(path, writer.getBytes());
  const { events } = await listed(target);
  assert.deepEqual(
    events.map(({ data: payload }) => payload),
    ['{"n":1}'],
  );
  assert.match(await failureOf(target), /has a column "region", which this version of Inlet does not know: a newer one wrote it/);
});

test("what else lies beside the files is ignored", async (t) => {
  const { target, path } = await archived(t);
  for (const name of ["README.md", "2024-99-99.parquet", ".DS_Store"]) await writeFile(join(dirname(path), name), "not ours");
  await readAll(target);
  assert.equal((await listed(target)).events.length, 50);
});
