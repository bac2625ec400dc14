import assert from "node:assert/strict";
import { test } from "node:test";
import { allLines, lineDiff } from "./line-diff.ts";

const numbers = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`);

test("equal texts have no difference", () => {
  assert.deepEqual(lineDiff("a\nb", "a\nb"), []);
  assert.deepEqual(lineDiff("", ""), []);
});

test("changed lines are shown with three around them, and each place says where it is", () => {
  const to = numbers.toSpliced(24, 0, "new").with(4, "changed");
  assert.deepEqual(lineDiff(numbers.join("\n"), to.join("\n")), [
    "@@ line 2 @@",
    "  line 2",
    "  line 3",
    "  line 4",
    "- line 5",
    "+ changed",
    "  line 6",
    "  line 7",
    "  line 8",
    "@@ line 22 @@",
    "  line 22",
    "  line 23",
    "  line 24",
    "+ new",
    "  line 25",
    "  line 26",
    "  line 27",
  ]);
});

test("what stays and goes is the one text, what stays and comes is the other", () => {
  const seed = Date.now() % 2 ** 31;
  const random = randomNumbers(seed);
  for (let round = 0; round < 200; round++) {
    const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)] ?? "");
    const [from, to] = [text(), text()];
    const lines = allLines(from, to);
    const kept = (gone: string) => lines.filter(({ sign }) => sign !== gone).map((line) => line.text);
    assert.deepEqual([kept("+"), kept("-")], [from, to], `seed ${seed}, round ${round}`);
  }
});

test("very long texts are compared in time", () => {
  const from = Array.from({ length: 20_000 }, (_, i) => `a${i}`);
  const lines = allLines(["same", ...from], ["same", ...from.map((line) => `b${line}`)]);
  assert.deepEqual([lines.length, lines[0]?.sign], [40_001, " "]);
});

function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % below;
  };
}
