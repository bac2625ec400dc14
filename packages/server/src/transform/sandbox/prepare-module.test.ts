import assert from "node:assert/strict";
import { it } from "node:test";
import { prepareModule } from "./prepare-module.ts";

/** A module with one memory of one page and two functions, `one` and `two`, that return their number. */
const MODULE = Uint8Array.from([
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7f],
  ...[0x03, 0x03, 0x02, 0x00, 0x00],
  ...[0x05, 0x03, 0x01, 0x00, 0x01],
  ...[
    0x07, 0x16, 0x03, 0x03, 0x6f, 0x6e, 0x65, 0x00, 0x00, 0x03, 0x74, 0x77, 0x6f, 0x00, 0x01, 0x06, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79,
    0x02, 0x00,
  ],
  ...[0x0a, 0x0b, 0x02, 0x04, 0x00, 0x41, 0x01, 0x0b, 0x04, 0x00, 0x41, 0x02, 0x0b],
  ...[0x00, 0x05, 0x04, 0x6e, 0x61, 0x6d, 0x65],
]);

interface Exports {
  one?: () => number;
  two?: () => number;
  memory?: WebAssembly.Memory;
}

it("keeps the exports asked for, and gives memory a maximum", () => {
  const prepared = prepareModule(MODULE, { exports: ["two", "memory"], memoryPagesMax: 300 });
  const exports = new WebAssembly.Instance(new WebAssembly.Module(prepared), {}).exports as Exports;
  assert.deepEqual(Object.keys(exports).sort(), ["marks", "memory", "two"]);
  assert.equal(exports.two?.(), 2);
  assert.equal(exports.memory?.grow(299), 1);
  assert.throws(() => exports.memory?.grow(1), RangeError);
});

it("says which export is missing", () => {
  assert.throws(() => prepareModule(MODULE, { exports: ["two", "three"], memoryPagesMax: 1 }), /does not export three/);
});
