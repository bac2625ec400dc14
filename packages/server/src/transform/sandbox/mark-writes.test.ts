/** Every way WebAssembly has to write to memory leaves a mark, and does what it did. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MARKED_PAGE_BYTES, OVERHANG_BYTES } from "./mark-writes.ts";
import { prepareModule } from "./prepare-module.ts";

const PAGE = MARKED_PAGE_BYTES;
const MEMORY_PAGES = 4;

interface Exports {
  memory: WebAssembly.Memory;
  marks: WebAssembly.Memory;
  write(address: number, value: number | bigint, length: number): void;
}

/** A module whose one function has three parameters, of which the second has a type of its own, and these instructions. */
function instance(valueType: number, instructions: readonly number[]): Exports {
  const body = [0x01, 0x01, 0x7e, ...instructions, 0x0b];
  const module = prepareModule(
    Uint8Array.from([
      ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
      ...[0x01, 0x07, 0x01, 0x60, 0x03, 0x7f, valueType, 0x7f, 0x00],
      ...[0x03, 0x02, 0x01, 0x00],
      ...[0x05, 0x03, 0x01, 0x00, MEMORY_PAGES],
      ...[0x07, 0x12, 0x02, 0x05, ...Buffer.from("write"), 0x00, 0x00, 0x06, ...Buffer.from("memory"), 0x02, 0x00],
      ...[0x0c, 0x01, 0x01],
      ...[0x0a, body.length + 2, 0x01, body.length, ...body],
      ...[0x0b, 0x07, 0x01, 0x01, 0x04, 0x01, 0x02, 0x03, 0x04],
    ]),
    { exports: ["write", "memory"], memoryPagesMax: MEMORY_PAGES },
  );
  return new WebAssembly.Instance(new WebAssembly.Module(module), {}).exports as Exports;
}

/** Pages in which anything is written, and pages marked. */
function pages({ memory, marks }: Exports): { written: number[]; marked: number[] } {
  const bytes = new Uint8Array(memory.buffer);
  const all = [...Array((MEMORY_PAGES * 65_536) / PAGE).keys()];
  const marked = new Uint8Array(marks.buffer);
  return {
    written: all.filter((page) => bytes.subarray(page * PAGE, (page + 1) * PAGE).some((byte) => byte !== 0)),
    marked: all.filter((page) => marked[page] !== 0),
  };
}

const GET_ALL = [0x20, 0x00, 0x20, 0x01];
const TYPES = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c } as const;
const STORES = [
  ["i32.store", 0x36, "i32", 4],
  ["i64.store", 0x37, "i64", 8],
  ["f32.store", 0x38, "f32", 4],
  ["f64.store", 0x39, "f64", 8],
  ["i32.store8", 0x3a, "i32", 1],
  ["i32.store16", 0x3b, "i32", 2],
  ["i64.store8", 0x3c, "i64", 1],
  ["i64.store16", 0x3d, "i64", 2],
  ["i64.store32", 0x3e, "i64", 4],
] as const;

describe("stores", () => {
  for (const [name, op, type, bytes] of STORES) {
    it(name, () => {
      const value = type === "i64" ? 0x0101010101010101n : type === "i32" ? 0x01010101 : 1.1;
      // Its address, and 5,000 further on: 0x88 0x27.
      for (const [offset, encoded] of [
        [0, [0]],
        [5_000, [0x88, 0x27]],
      ] as const) {
        const exports = instance(TYPES[type], [...GET_ALL, op, 0x00, ...encoded]);
        exports.write(3 * PAGE, value, 0);
        const page = Math.floor((3 * PAGE + offset) / PAGE);
        assert.deepEqual(pages(exports), { written: [page], marked: [page] });
        const at = 3 * PAGE + offset;
        assert.equal(new Uint8Array(exports.memory.buffer, at, bytes + 1).filter((byte) => byte !== 0).length <= bytes, true);
      }
    });
  }

  it("are marked by where they begin, and reach no further than is said", () => {
    const exports = instance(TYPES.i64, [...GET_ALL, 0x37, 0x00, 0x00]);
    exports.write(4 * PAGE - 1, -1n, 0);
    assert.deepEqual(pages(exports), { written: [3, 4], marked: [3] });
    assert.equal(new Uint8Array(exports.memory.buffer, 4 * PAGE, PAGE).lastIndexOf(0xff), OVERHANG_BYTES - 1);
  });
});

describe("writing many bytes", () => {
  const fill = () => instance(TYPES.i32, [...GET_ALL, 0x20, 0x02, 0xfc, 0x0b, 0x00]);

  it("marks all pages of a fill", () => {
    for (const [from, length, written] of [
      [0, 1, [0]],
      [PAGE - 1, 2, [0, 1]],
      [PAGE, PAGE, [1]],
      [PAGE - 1, PAGE, [0, 1]],
      [PAGE - 1, PAGE + 2, [0, 1, 2]],
      [5 * PAGE + 7, 10 * PAGE, [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]],
    ] as const) {
      const exports = fill();
      exports.write(from, 1, length);
      const found = pages(exports);
      assert.deepEqual(found.written, written);
      assert.deepEqual(
        written.filter((page) => !found.marked.includes(page)),
        [],
      );
      assert.ok(found.marked.length <= written.length + 1);
    }
  });

  it("marks the target of a copy, not its source", () => {
    const exports = instance(TYPES.i32, [...GET_ALL, 0x20, 0x02, 0xfc, 0x0a, 0x00, 0x00]);
    new Uint8Array(exports.memory.buffer).fill(1, 0, PAGE);
    exports.write(9 * PAGE, 0, 100);
    assert.deepEqual(pages(exports), { written: [0, 9], marked: [9] });
  });

  it("marks where data are put", () => {
    const exports = instance(TYPES.i32, [...GET_ALL, 0x20, 0x02, 0xfc, 0x08, 0x00, 0x00]);
    exports.write(7 * PAGE + 5, 0, 4);
    assert.deepEqual(pages(exports), { written: [7], marked: [7] });
  });

  it("traps outside of memory as before", () => {
    assert.throws(() => fill().write(MEMORY_PAGES * 65_536 - 1, 1, 2), WebAssembly.RuntimeError);
    assert.throws(() => fill().write(0x7fff_ffff, 1, 2), WebAssembly.RuntimeError);
  });
});

it("does not go on with an instruction it does not know", () => {
  assert.throws(() => instance(TYPES.i32, [0xfd, 0x0c]), /not known: fd/);
});
