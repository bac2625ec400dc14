/**
 * What the standard OpenTelemetry variables ask for. Addresses, headers, time limits and certificates are read by the exporters themselves;
 * here is decided whether there are any, and what the other variables mean. A value that means nothing is reported and ignored: telemetry
 * never keeps the service from starting.
 */

export const OTLP_PROTOCOLS = ["http/protobuf", "http/json"] as const;
export type OtlpProtocol = (typeof OTLP_PROTOCOLS)[number];

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

export interface TelemetrySettings {
  /** Null: not exported. */
  traces: (ExporterSettings & SamplingSettings & { batch: BatchSettings }) | null;
  metrics: (ExporterSettings & { intervalMs: number }) | null;
  /** Values that were ignored, each as a sentence. */
  warnings: readonly string[];
}

export interface ExporterSettings {
  protocol: OtlpProtocol;
  /** Of one export, with everything that is tried again. */
  timeoutMs: number;
}

export interface SamplingSettings {
  sampler: SamplerName;
  ratio: number;
  /** How many of the traces that begin here are sampled in a second. Null: as many as the sampler says. */
  tracesPerSMax: number | null;
}

export interface BatchSettings {
  maxQueueSize: number;
  maxExportBatchSize: number;
  scheduledDelayMillis: number;
  exportTimeoutMillis: number;
}

export type Variables = Readonly<Record<string, string | undefined>>;

const PREFIX = "OTEL_EXPORTER_OTLP_";
const INTERVAL_MS = 60_000;
/** Shorter than the 10 s of the specification: a stop waits for exports under way. */
const TIMEOUT_MS = 5_000;
/** Unless a sampler is named. A trace has some six spans, and the exporter's queue has room for 2,048. */
const TRACES_PER_S_MAX = 500;

type Exported = "TRACES" | "METRICS";

/** Null: nothing is exported. */
export function readTelemetry(variables: Variables): TelemetrySettings | null {
  const set = (name: string) => (variables[name]?.trim() ?? "") !== "";
  if (variables.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return null;
  if (!Object.keys(variables).some((name) => name.startsWith(PREFIX) && set(name))) return null;
  const endpoints = ["", "TRACES_", "METRICS_"].map((kind) => `${PREFIX}${kind}ENDPOINT`);
  // Not shown: an address may contain a password.
  const wrong = endpoints.filter((name) => set(name) && !/^https?:\/\/[^/]/.test(variables[name]?.trim() ?? ""));
  const warnings = wrong.map((name) => `${name} must be an address that starts with http:// or https://`);
  const hasEndpoint = endpoints.some(set);
  const isOn = (kind: Exported) => {
    if (variables[`OTEL_${kind}_EXPORTER`]?.trim() === "none") return false;
    // Without an address, other variables mean the standard one, http://localhost:4318.
    return !hasEndpoint || set(`${PREFIX}ENDPOINT`) || set(`${PREFIX}${kind}_ENDPOINT`);
  };
  const traces = isOn("TRACES")
    ? { ...exporterOf("TRACES", variables, warnings), ...samplingOf(variables, warnings), batch: batchOf(variables, warnings) }
    : null;
  const intervalMs = numberOf("OTEL_METRIC_EXPORT_INTERVAL", INTERVAL_MS, variables, warnings);
  const metrics = isOn("METRICS") ? { ...exporterOf("METRICS", variables, warnings), intervalMs } : null;
  return traces || metrics ? { traces, metrics, warnings: [...new Set(warnings)] } : null;
}

/** What is said of one kind goes before what is said of all. */
function exporterOf(kind: Exported, variables: Variables, warnings: string[]): ExporterSettings {
  const nameOf = (ending: string) => [`${PREFIX}${kind}_${ending}`, `${PREFIX}${ending}`].find((candidate) => variables[candidate]?.trim());
  const protocol = oneOf(OTLP_PROTOCOLS, nameOf("PROTOCOL"), "http/protobuf", variables, warnings);
  return { protocol, timeoutMs: numberOf(nameOf("TIMEOUT") ?? "", TIMEOUT_MS, variables, warnings) };
}

function samplingOf(variables: Variables, warnings: string[]): SamplingSettings {
  const name = "OTEL_TRACES_SAMPLER";
  const sampler = oneOf(SAMPLERS, variables[name]?.trim() ? name : undefined, "parentbased_always_on", variables, warnings);
  const tracesPerSMax = variables[name]?.trim() === sampler ? null : TRACES_PER_S_MAX;
  if (!sampler.endsWith("traceidratio")) return { sampler, ratio: 1, tracesPerSMax };
  const text = variables.OTEL_TRACES_SAMPLER_ARG?.trim() ?? "";
  const ratio = text === "" ? Number.NaN : Number(text);
  if (ratio >= 0 && ratio <= 1) return { sampler, ratio, tracesPerSMax };
  warnings.push(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, not ${JSON.stringify(text)}: 1 is used`);
  return { sampler, ratio: 1, tracesPerSMax };
}

/** The names and defaults of the specification. */
function batchOf(variables: Variables, warnings: string[]): BatchSettings {
  const read = (name: string, standard: number) => numberOf(`OTEL_BSP_${name}`, standard, variables, warnings);
  const maxQueueSize = read("MAX_QUEUE_SIZE", 2_048);
  return {
    maxQueueSize,
    maxExportBatchSize: Math.min(read("MAX_EXPORT_BATCH_SIZE", 512), maxQueueSize),
    scheduledDelayMillis: read("SCHEDULE_DELAY", 5_000),
    exportTimeoutMillis: read("EXPORT_TIMEOUT", 30_000),
  };
}

function oneOf<Value extends string>(
  known: readonly Value[],
  name: string | undefined,
  standard: Value,
  variables: Variables,
  warnings: string[],
): Value {
  if (name === undefined) return standard;
  const text = variables[name]?.trim() ?? "";
  const found = known.find((value) => value === text);
  if (found === undefined) warnings.push(`${name} must be one of ${known.join(", ")}, not ${JSON.stringify(text)}: ${standard} is used`);
  return found ?? standard;
}

function numberOf(name: string, standard: number, variables: Variables, warnings: string[]): number {
  const text = variables[name]?.trim() ?? "";
  if (text === "") return standard;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  warnings.push(`${name} must be a whole number above 0, not ${JSON.stringify(text)}: ${standard} is used`);
  return standard;
}
