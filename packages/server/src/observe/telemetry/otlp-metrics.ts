/** The instruments of `/metrics`, read at each export and written as OpenTelemetry's: there is one set of counters. Counters are cumulative. */

import { type HrTime, ValueType } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { MetricSample, MetricSnapshot } from "../metrics/metrics.ts";

export interface MetricProducerParts {
  metrics: { snapshot(): Promise<MetricSnapshot[]> };
  resource: Resource;
  version: string;
}

const UNITS: readonly (readonly [ending: string, unit: string])[] = [
  ["_seconds", "s"],
  ["_bytes", "By"],
];

export function createMetricProducer({ metrics, resource, version }: MetricProducerParts): MetricProducer {
  const startTime = hrTime(Date.now());
  return {
    async collect() {
      const endTime = hrTime(Date.now());
      const found = (await metrics.snapshot()).map((metric) => toMetricData(metric, startTime, endTime));
      const scopeMetrics = [{ scope: { name: "inlet", version }, metrics: found }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
}

export function toMetricData({ name, help, type, values }: MetricSnapshot, startTime: HrTime, endTime: HrTime): MetricData {
  const unit = UNITS.find(([ending]) => name.endsWith(ending))?.[1] ?? "";
  const common = {
    descriptor: { name, description: help, unit, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = () => values.map(({ value, labels }): DataPoint<number> => ({ startTime, endTime, attributes: { ...labels }, value }));
  if (type === "counter") return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
  if (type === "gauge") return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() };
  if (type !== "histogram") throw new Error(`${name} is a ${type}, which has no translation`);
  const value = histogramOf(name, values);
  return { ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: [{ startTime, endTime, attributes: {}, value }] };
}

/** Prometheus' buckets hold everything up to their bound, OpenTelemetry's only what is above the bound before. Histograms of ours have no labels. */
function histogramOf(name: string, values: readonly MetricSample[]): Histogram {
  const buckets = values.filter(({ metricName }) => metricName === `${name}_bucket`);
  const seriesValue = (metricName: string) => values.find((sample) => sample.metricName === metricName)?.value ?? 0;
  const upTo = buckets.map(({ value }) => value);
  return {
    buckets: {
      boundaries: buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite),
      counts: upTo.map((count, index) => count - (upTo[index - 1] ?? 0)),
    },
    sum: seriesValue(`${name}_sum`),
    count: seriesValue(`${name}_count`),
  };
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
}
