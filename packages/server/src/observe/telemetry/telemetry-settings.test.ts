import assert from "node:assert/strict";
import { test } from "node:test";
import { readTelemetry } from "./telemetry-settings.ts";

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318" };

function exportedBy(variables: Record<string, string>): string[] {
  const settings = readTelemetry(variables);
  return Object.entries({ traces: settings?.traces, metrics: settings?.metrics }).flatMap(([name, one]) => (one ? [name] : []));
}

test("nothing is exported without a variable of the exporters, or when the SDK is disabled", () => {
  assert.equal(readTelemetry({}), null);
  assert.equal(readTelemetry({ OTEL_SERVICE_NAME: "inlet", OTEL_TRACES_SAMPLER: "always_on" }), null);
  assert.equal(readTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: " " }), null);
  assert.equal(readTelemetry({ ...ENDPOINT, OTEL_SDK_DISABLED: "TRUE" }), null);
  assert.equal(readTelemetry({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }), null);
});

test("an address is for traces and metrics, or for the one it names; without any it is the standard one", () => {
  assert.deepEqual(exportedBy(ENDPOINT), ["traces", "metrics"]);
  assert.deepEqual(exportedBy({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://collector/t" }), ["traces"]);
  assert.deepEqual(exportedBy({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://collector/m", OTEL_EXPORTER_OTLP_HEADERS: "a=b" }), [
    "metrics",
  ]);
  assert.deepEqual(exportedBy({ OTEL_EXPORTER_OTLP_HEADERS: "a=b" }), ["traces", "metrics"]);
  assert.deepEqual(exportedBy({ ...ENDPOINT, OTEL_TRACES_EXPORTER: "none" }), ["metrics"]);
});

test("protocol, time limit, sampler, batches and interval are those of the specification unless they are set", () => {
  assert.deepEqual(readTelemetry(ENDPOINT), {
    traces: {
      protocol: "http/protobuf",
      timeoutMs: 5_000,
      sampler: "parentbased_always_on",
      ratio: 1,
      tracesPerSMax: 500,
      batch: { maxQueueSize: 2_048, maxExportBatchSize: 512, scheduledDelayMillis: 5_000, exportTimeoutMillis: 30_000 },
    },
    metrics: { protocol: "http/protobuf", timeoutMs: 5_000, intervalMs: 60_000 },
    warnings: [],
  });
  const set = readTelemetry({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/protobuf",
    OTEL_EXPORTER_OTLP_TIMEOUT: "900",
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "700",
    OTEL_TRACES_SAMPLER: "traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "0.25",
    OTEL_METRIC_EXPORT_INTERVAL: "1500",
    OTEL_BSP_MAX_QUEUE_SIZE: "100",
    OTEL_BSP_SCHEDULE_DELAY: "50",
    OTEL_BSP_EXPORT_TIMEOUT: "800",
  });
  assert.deepEqual(set, {
    traces: {
      protocol: "http/json",
      timeoutMs: 700,
      sampler: "traceidratio",
      ratio: 0.25,
      tracesPerSMax: null,
      batch: { maxQueueSize: 100, maxExportBatchSize: 100, scheduledDelayMillis: 50, exportTimeoutMillis: 800 },
    },
    metrics: { protocol: "http/protobuf", timeoutMs: 900, intervalMs: 1_500 },
    warnings: [],
  });
});

test("values that mean nothing are reported, each once, and ignored", () => {
  const settings = readTelemetry({
    ...ENDPOINT,
    OTEL_METRICS_EXPORTER: "none",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
    OTEL_TRACES_SAMPLER_ARG: "2",
    OTEL_BSP_MAX_QUEUE_SIZE: "-1",
  });
  assert.deepEqual(
    [settings?.traces?.protocol, settings?.traces?.ratio, settings?.traces?.batch.maxQueueSize],
    ["http/protobuf", 1, 2_048],
  );
  assert.deepEqual(settings?.warnings, [
    'OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf, http/json, not "grpc": http/protobuf is used',
    'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not "2": 1 is used',
    'OTEL_BSP_MAX_QUEUE_SIZE must be a whole number above 0, not "-1": 2048 is used',
  ]);
  assert.deepEqual(readTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" })?.warnings, [
    "OTEL_EXPORTER_OTLP_ENDPOINT must be an address that starts with http:// or https://",
  ]);
  const unknown = readTelemetry({ ...ENDPOINT, OTEL_TRACES_SAMPLER: "jaeger_remote" })?.traces;
  assert.deepEqual([unknown?.sampler, unknown?.tracesPerSMax], ["parentbased_always_on", 500]);
  assert.equal(readTelemetry({ ...ENDPOINT, OTEL_TRACES_SAMPLER: "parentbased_always_on" })?.traces?.tracesPerSMax, null);
});
