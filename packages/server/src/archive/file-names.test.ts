import assert from "node:assert/strict";
import { posix } from "node:path";
import { test } from "node:test";
import { dayOfFile, fileName, folderOf } from "./file-names.ts";

test("each environment has one folder of its own inside of the archive, whatever its name", () => {
  const names = ["production", "feature/x", "feature.x", "..", ".", "../..", "/", "//", "a/../../b", ".a", "/.a", "a/", "-", "_"];
  assert.equal(new Set(names.map(folderOf)).size, names.length);
  for (const name of names) {
    const file = fileName(name, "events", 20_000);
    assert.equal(posix.normalize(`/archive/${file}`), `/archive/${file}`);
    assert.equal(file.split("/").length, 3);
    assert.equal(dayOfFile(file), 20_000);
  }
  assert.equal(fileName("production", "runs", 20_000), "production/runs/2024-10-04.parquet");
  for (const other of [".2024-10-04.parquet.1.part", "2024-13-04.parquet", "2024-10-04.parquet.gz", "x.parquet", "12024-10-04.parquet"])
    assert.equal(dayOfFile(`production/runs/${other}`), null, other);
});
