/**
 * Exports traces and metrics by OTLP, with the packages of OpenTelemetry. This file is loaded only if an exporter is configured.
 *
 * A collector that is away harms nothing: spans wait in a queue of bounded length and are dropped when it is full, and the log says once that they
 * cannot be exported and once that they can be again.
 */

import { OTLPMetricExporter as JsonMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPMetricExporter as ProtobufMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as JsonTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  detectResources,
  hostDetector,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from "@opentelemetry/resources";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";
import type { Metrics } from "../metrics/metrics.ts";
import { limitedSampler } from "./limited-sampler.ts";
import { createMetricProducer } from "./otlp-metrics.ts";
import { createOtlpTracing } from "./otlp-tracing.ts";
import type { TelemetrySettings } from "./telemetry-settings.ts";
import type { Tracing } from "./tracing.ts";

/** How long a stop waits for what is left to be exported. */
const FLUSH_MS = 5_000;

export interface Telemetry {
  /** Null: only metrics are exported. */
  tracing: Tracing | null;
  /** Exports what is left, within five seconds. */
  stop(): Promise<void>;
}

export interface TelemetryParts {
  metrics: Pick<Metrics, "snapshot">;
  version: string;
  log: Logger;
}

type TraceSettings = NonNullable<TelemetrySettings["traces"]>;
type MetricSettings = NonNullable<TelemetrySettings["metrics"]>;

export function openTelemetry({ traces, metrics, warnings }: TelemetrySettings, parts: TelemetryParts): Telemetry {
  for (const warning of warnings) parts.log.warn(warning);
  const resource = resourceOf(parts.version);
  const tracers = traces && createTracers(traces, resource, parts.log);
  const honoursParent = traces?.sampler.startsWith("parentbased_") ?? false;
  const meters = metrics && createMeters(metrics, resource, parts);
  return {
    tracing: tracers && createOtlpTracing(tracers.getTracer("inlet", parts.version), { honoursParent }),
    async stop() {
      let cut: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        cut = setTimeout(resolve, FLUSH_MS);
      });
      // What cannot be exported now is lost; the log has said why.
      await Promise.race([Promise.allSettled([tracers?.shutdown(), meters?.shutdown()]), late]);
      clearTimeout(cut);
    },
  };
}

function createTracers(settings: TraceSettings, resource: Resource, log: Logger): TracerProvider {
  const { protocol, timeoutMs: timeoutMillis, batch } = settings;
  const exporter = protocol === "http/json" ? new JsonTraceExporter({ timeoutMillis }) : new ProtobufTraceExporter({ timeoutMillis });
  reportOutages(exporter, "traces", log);
  return new TracerProvider({
    resource,
    sampler: samplerOf(settings),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...batch })],
  });
}

function samplerOf({ sampler, ratio, tracesPerSMax }: TraceSettings): Sampler {
  const root = rootSamplerOf(sampler, ratio, tracesPerSMax);
  return sampler.startsWith("parentbased_") ? new ParentBasedSampler({ root }) : root;
}

function rootSamplerOf(name: TraceSettings["sampler"], ratio: number, tracesPerSMax: number | null): Sampler {
  if (tracesPerSMax !== null) return limitedSampler(tracesPerSMax, Date.now);
  if (name.endsWith("always_on")) return new AlwaysOnSampler();
  return name.endsWith("always_off") ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}

function createMeters(settings: MetricSettings, resource: Resource, { metrics, log, version }: TelemetryParts): MeterProvider {
  const { protocol, timeoutMs: timeoutMillis, intervalMs } = settings;
  const exporter = protocol === "http/json" ? new JsonMetricExporter({ timeoutMillis }) : new ProtobufMetricExporter({ timeoutMillis });
  reportOutages(exporter, "metrics", log);
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    metricProducers: [createMetricProducer({ metrics, resource, version })],
  });
  return new MeterProvider({ resource, readers: [reader] });
}

/** Counters belong to one node, so every process is an instance of its own. The variables go before all of this. */
function resourceOf(version: string): Resource {
  const own = resourceFromAttributes({ "service.name": "inlet", "service.version": version });
  const detectors = [hostDetector, serviceInstanceIdDetector, resourceAttributesEnvDetector, serviceNameEnvDetector];
  return own.merge(detectResources({ detectors }));
}

interface Exporter<Items, Result extends { error?: Error }> {
  export(items: Items, done: (result: Result) => void): void;
}

/** Logs the first export that fails, and the first that succeeds after it. */
function reportOutages<Items, Result extends { error?: Error }>(exporter: Exporter<Items, Result>, signal: string, log: Logger): void {
  const send = exporter.export.bind(exporter);
  let isAway = false;
  exporter.export = (items, done) =>
    send(items, (result) => {
      const isFailed = result.error !== undefined;
      if (isFailed && !isAway) log.warn({ reason: result.error?.message }, `${signal} cannot be exported; nothing else is affected`);
      if (!isFailed && isAway) log.info(`${signal} are exported again`);
      isAway = isFailed;
      done(result);
    });
}
