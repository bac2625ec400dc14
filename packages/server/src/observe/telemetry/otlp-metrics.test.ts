import assert from "node:assert/strict";
import { test } from "node:test";
import { Histogram, Registry } from "prom-client";
import { toMetricData } from "./otlp-metrics.ts";

test("a histogram's buckets hold what is above the bound before them", async () => {
  const registry = new Registry();
  const histogram = new Histogram({ name: "work_seconds", help: "Work.", buckets: [1, 5, 10], registers: [registry] });
  for (const value of [0.5, 1, 3, 7, 8, 100]) histogram.observe(value);
  const [metric] = await registry.getMetricsAsJSON();
  assert.ok(metric);
  const data = toMetricData({ ...metric, type: "histogram" }, [1, 0], [2, 0]);
  assert.deepEqual(data.dataPoints, [
    {
      startTime: [1, 0],
      endTime: [2, 0],
      attributes: {},
      value: { buckets: { boundaries: [1, 5, 10], counts: [2, 1, 2, 1] }, sum: 119.5, count: 6 },
    },
  ]);
  assert.equal(data.descriptor.unit, "s");
});

test("a kind of metric without a translation is an error, not a gap", () => {
  assert.throws(() => toMetricData({ name: "a", help: "", type: "summary", values: [] }, [0, 0], [0, 0]), /no translation/);
});
