/** What an archive needs of its target, on a folder and on a real S3 server: whole files, lists, ranges, and errors that say why. */

import assert from "node:assert/strict";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type ArchiveTarget, ArchiveUnavailable } from "../src/archive/targets/archive-target.ts";
import { openTarget } from "../src/archive/targets/open-target.ts";
import { archiveFolder, folderUrl } from "./support/archive-scene.ts";
import { cutResponses } from "./support/response-cutter.ts";
import { BUCKET, startS3 } from "./support/s3-server.ts";

const MIB = 1024 * 1024;

async function write(target: ArchiveTarget, name: string, ...parts: Uint8Array[]): Promise<void> {
  const upload = await target.create(name);
  for (const part of parts) await upload.append(part);
  await upload.finish(() => undefined);
  await upload.abort();
}

async function failureOf(target: ArchiveTarget): Promise<Error> {
  try {
    await target.list("a");
  } catch (error) {
    return error as Error;
  }
  assert.fail("it was listed");
}

async function namesIn(target: ArchiveTarget, prefix: string): Promise<string[]> {
  return (await target.list(prefix)).map(({ name }) => name);
}

async function textOf(target: ArchiveTarget, name: string, start = 0, end?: number): Promise<string | null> {
  const file = await target.open(name);
  if (!file) return null;
  const text = Buffer.from(await file.slice(start, end)).toString();
  await file.close();
  return text;
}

const TARGETS: Record<string, (t: TestContext) => Promise<ArchiveTarget>> = {
  "a folder": async (t) => openTarget(folderUrl(join(await archiveFolder(t), "new")), {}),
  S3: async (t) => openTarget(`s3://${BUCKET}/some/prefix`, await startS3(t)),
};

for (const [kind, make] of Object.entries(TARGETS)) {
  test(`${kind}: files are written whole, listed, read in ranges and replaced`, async (t) => {
    const target = await make(t);
    assert.deepEqual(await target.list("production/events/"), []);
    assert.equal(await target.open("production/events/2026-01-01.parquet"), null);
    for (const name of ["@.~x/events/2026-01-02.parquet", "production/events/2026-01-02.parquet", "production/events/2026-01-01.parquet"])
      await write(target, name, Buffer.from("one "), Buffer.from("two"));
    await write(target, "production/runs/2026-01-01.parquet", Buffer.from("other"));
    assert.deepEqual(await namesIn(target, "production/events/"), [
      "production/events/2026-01-01.parquet",
      "production/events/2026-01-02.parquet",
    ]);
    assert.equal(await textOf(target, "@.~x/events/2026-01-02.parquet"), "one two");
    assert.equal(await textOf(target, "production/events/2026-01-01.parquet", 2, 5), "e t");

    const name = "production/events/2026-01-01.parquet";
    const begun = await target.create(name);
    for (let i = 0; i < 3; i++) await begun.append(new Uint8Array(5 * MIB).fill(97 + i));
    assert.equal(await textOf(target, name), "one two", "an unfinished file is not seen");
    // The S3 server of the tests knows no end of an upload but its completion.
    await begun.abort().catch((error: Error) => assert.match(error.message, /DELETE with 405/));
    assert.equal(await textOf(target, name), "one two");
    const large = [0, 1, 2, 3].map((i) => new Uint8Array(5 * MIB).fill(97 + i));
    await write(target, name, ...large);
    assert.equal(await textOf(target, name, 5 * MIB - 1, 5 * MIB + 1), "ab");
    assert.equal((await textOf(target, name))?.length, 20 * MIB);
    const versions = async () => (await target.list("production/")).concat(await target.list(name)).map(({ version }) => version);
    const before = await versions();
    assert.deepEqual(await versions(), before);
    await write(target, name, Buffer.from("three"));
    assert.notDeepEqual(await versions(), before, "another file has another version");

    const lost = new Error("the right to write was lost");
    const late = await target.create(name);
    await late.append(Buffer.from("four"));
    const refused = late.finish(() => {
      throw lost;
    });
    await assert.rejects(refused, lost);
    await late.abort();
    assert.equal(await textOf(target, name), "three");
  });
}

test("a folder keeps nothing of an upload that was aborted", async (t) => {
  const folder = await archiveFolder(t);
  const upload = await openTarget(folderUrl(folder), {}).create("production/events/2026-01-01.parquet");
  await upload.append(Buffer.from("x"));
  await upload.abort();
  assert.deepEqual(await readdir(join(folder, "production", "events")), []);
});

test("a file where the folder should be is refused when the target is opened", async (t) => {
  const folder = await archiveFolder(t);
  await writeFile(join(folder, "file"), "");
  for (const path of ["file", "file/below/it"])
    assert.throws(() => openTarget(folderUrl(join(folder, path)), {}), /--archive must name a folder/);
  openTarget(folderUrl(join(folder, "not", "made", "yet")), {});
});

test("storage that refuses or does not answer is unavailable, and the reason has no credentials", async (t) => {
  const variables = await startS3(t);
  const wrong = openTarget(`s3://${BUCKET}`, { ...variables, AWS_SECRET_ACCESS_KEY: "wrong-secret" });
  const refused = await failureOf(wrong);
  assert.ok(refused instanceof ArchiveUnavailable);
  assert.match(refused.message, /403: SignatureDoesNotMatch/);
  const missing = await failureOf(openTarget("s3://not-there", variables));
  assert.match(missing.message, /404: NoSuchBucket/);
  const silent = await failureOf(openTarget(`s3://${BUCKET}`, { ...variables, AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1" }));
  assert.ok(silent instanceof ArchiveUnavailable);
  for (const { message } of [refused, missing, silent]) assert.doesNotMatch(message, /wrong-secret|S3RVER/);
  assert.throws(() => openTarget(`s3://${BUCKET}`, {}), /needs the variable AWS_ACCESS_KEY_ID/);
});

test("a response that breaks off is asked for again; storage whose responses always break off is unavailable", async (t) => {
  const variables = await startS3(t);
  const cutter = await cutResponses(t, variables.AWS_ENDPOINT_URL_S3 as string);
  const target = openTarget(`s3://${BUCKET}`, { ...variables, AWS_ENDPOINT_URL_S3: cutter.url });
  await write(target, "a/small", Buffer.from("0123456789"));
  const large = async () => write(target, "a/large", Buffer.alloc(9 * MIB, "y"));
  const reads: Record<string, () => Promise<unknown>> = {
    list: () => namesIn(target, "a/"),
    range: () => textOf(target, "a/small", 2, 8),
    "upload in parts": large,
  };
  for (const [what, read] of Object.entries(reads)) {
    cutter.cut(Number.POSITIVE_INFINITY);
    await assert.rejects(
      read,
      (error) => error instanceof ArchiveUnavailable && /the storage cannot be reached: /.test(error.message),
      what,
    );
    cutter.cut(1);
    await read();
  }
  assert.deepEqual(await namesIn(target, "a/"), ["a/large", "a/small"]);
  assert.equal(await textOf(target, "a/small", 2, 8), "234567");

  // What took its place meanwhile is not overwritten.
  const replaced = await target.create("a/large");
  await replaced.append(Buffer.alloc(9 * MIB, "z"));
  cutter.cut(Number.POSITIVE_INFINITY);
  let tries = 0;
  const lost = new Error("the right to write was lost");
  await assert.rejects(
    replaced.finish(() => {
      if (++tries === 2) throw lost;
    }),
    lost,
  );
  assert.equal(tries, 2);
});
