/**
 * What a request brought is garbage as soon as it is answered, and V8 must find that out with its quick collections: what those take
 * for alive costs a copy, a place in old memory, and a full collection later on.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const TRANSFORMS_GROWN_OLD = fileURLToPath(new URL("../../../test/support/transforms-grown-old.ts", import.meta.url));
/** A quarter of a request's text. A Map of the requests in progress keeps twice as much. */
const BYTES_MAX = 2_000;

test("what was answered does not grow old", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", TRANSFORMS_GROWN_OLD]);
  assert.ok(Number(stdout) < BYTES_MAX, `${stdout} bytes of a request grew old`);
});
