import assert from "node:assert/strict";
import { before, test } from "node:test";

/** The browser's storage, which holds the time zone. */
before(() => Object.assign(globalThis, { localStorage: { getItem: () => "utc" } }));

const at = (iso: string) => Date.parse(iso) / 1_000;

test("time labels: the day where it begins, the time elsewhere, and none twice", async () => {
  const { timeLabels } = await import("./axis-labels.ts");
  const ticks = ["2026-11-15T12:00Z", "2026-11-15T18:00Z", "2026-11-16T00:00Z", "2026-11-16T06:00Z"].map(at);
  const labels = timeLabels(ticks);
  assert.deepEqual([labels[0], labels[1], labels[3]], ["12:00", "18:00", "06:00"]);
  assert.match(labels[2] ?? "", /16/);
  assert.deepEqual(timeLabels(["2026-11-16T06:00:00Z", "2026-11-16T06:00:15Z", "2026-11-16T06:01:00Z"].map(at)), ["06:00", "", "06:01"]);
});

test("a label at an edge of the chart is left out rather than clipped", async () => {
  const { hasRoom } = await import("./axis-labels.ts");
  const shown = (left: number, tick: number) => hasRoom({ left, right: 322, width: 330 }, { min: 0, max: 100 }, tick);
  assert.deepEqual([shown(62, 0), shown(62, 95), shown(62, 96), shown(62, 100)], [true, true, false, false]);
  assert.deepEqual([shown(8, 0), shown(8, 5)], [false, true]);
});

test("value labels: whole numbers, or the unit of the chart; equal ones in a row are shown once", async () => {
  const { unequal, valueLabel } = await import("./axis-labels.ts");
  assert.deepEqual(
    [0, 0.5, 1].map((tick) => valueLabel(tick, undefined)),
    ["0", "", "1"],
  );
  assert.equal(
    valueLabel(2, (value) => `${value} %`),
    "2 %",
  );
  assert.deepEqual(unequal(["1.2K", "1.2K", "1.3K"]), ["1.2K", "", "1.3K"]);
});
