import assert from "node:assert/strict";
import { test } from "node:test";
import { readLogs, splitLogs } from "./read-logs.ts";

const NOW = 1_000;
const line = (changes: object = {}) => ({ at: 5, level: "info", message: "m", stepId: "s", ...changes });
const read = (value: unknown, secrets: string[] = []) => readLogs(JSON.stringify(value), secrets, NOW);

test("only our own SDK's answers end with lines, and a wrong length cuts nothing", () => {
  const body = `"done"{"lines":[]}`;
  const split = (length: string, set: "service" | "inngest" = "service") =>
    splitLogs(set, { status: 200, headers: { "x-service-logs": length, "x-inngest-logs": length }, body });
  assert.deepEqual([split("12").received.body, split("12").logText], ['"done"', '{"lines":[]}']);
  for (const length of ["", "0", "-3", "1.5", "1e9", "x", "NaN"])
    assert.deepEqual([split(length).received.body, split(length).logText], [body, null]);
  assert.equal(split("12", "inngest").logText, null);
});

test("lines of an app are checked and bounded, whatever it sends", () => {
  for (const text of ["", "{", "null", "[]", "1", '{"lines":1}', '{"lines":[]}']) assert.equal(readLogs(text, [], NOW), null);
  assert.deepEqual(read({ lines: [line()], dropped: 2 }), { lines: [line()], dropped: 2 });
  assert.deepEqual(read({ lines: [null, 1, line({ level: "fatal" }), line()], dropped: "many" }), { lines: [line()], dropped: 3 });
  for (const at of ["x", null, 9e15, 1e300]) assert.equal(read({ lines: [line({ at })] })?.lines[0]?.at, NOW);
  assert.equal(read({ lines: [line({ message: { a: [1] } })] })?.lines[0]?.message, '{"a":[1]}');
  assert.equal(read({ lines: [line({ message: "key sk-12345678" })] }, ["sk-12345678"])?.lines[0]?.message, "key ***");
  const many = read({ lines: Array.from({ length: 5_000 }, () => line()), dropped: 1 });
  assert.deepEqual([many?.lines.length, many?.dropped], [100, 4_901]);
  const long = read({ lines: Array.from({ length: 100 }, () => line({ message: "x".repeat(9_000), stepId: "s".repeat(9_000) })) });
  assert.deepEqual([long?.lines.length, long?.dropped, long?.lines[0]?.stepId?.length], [4, 96, 200]);
});
