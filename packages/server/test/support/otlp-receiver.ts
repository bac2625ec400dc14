/** A collector in the test's process: takes OTLP over HTTP and shows what it was sent. JSON is decoded, protobuf kept as bytes. */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { readTelemetry, type TelemetrySettings } from "../../src/observe/telemetry/telemetry-settings.ts";
import { onEnd } from "./on-end.ts";

export interface ReceivedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  kind: number;
  attributes: Record<string, unknown>;
  startedAt: number;
  endedAt: number;
  error: string | undefined;
}

export interface ReceivedMetric {
  name: string;
  unit: string;
  // biome-ignore lint/suspicious/noExplicitAny: points have a shape per kind
  points: any[];
  isMonotonic: boolean | undefined;
}

export interface OtlpReceiver {
  url: string;
  requests: { path: string; contentType: string; authorization: string | undefined; body: Buffer }[];
  spans(): ReceivedSpan[];
  /** Of the last export. */
  metrics(): ReceivedMetric[];
  stop(): Promise<void>;
}

export async function startOtlpReceiver(t: TestContext, port = 0): Promise<OtlpReceiver> {
  const requests: OtlpReceiver["requests"] = [];
  const server = createServer(async (request, response) => {
    const { "content-type": contentType = "", authorization } = request.headers;
    requests.push({ path: request.url ?? "", contentType, authorization, body: await bodyOf(request) });
    response.writeHead(200, { "content-type": contentType }).end(contentType === "application/json" ? "{}" : "");
  });
  await once(server.listen(port, "127.0.0.1"), "listening");
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onEnd(t, stop);
  const decoded = (path: string) =>
    requests
      .filter((request) => request.path === path && request.contentType === "application/json")
      .map(({ body }) => JSON.parse(body.toString()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => decoded("/v1/traces").flatMap(({ resourceSpans }) => resourceSpans.flatMap(spansOf)),
    metrics: () => (decoded("/v1/metrics").at(-1)?.resourceMetrics ?? []).flatMap(metricsOf),
    stop,
  };
}

/** Sets the standard variables for as long as the test lasts: the exporters read them from the process. */
export function exportTo(t: TestContext, url: string, more: Record<string, string> = {}): TelemetrySettings {
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    OTEL_METRIC_EXPORT_INTERVAL: "50",
    ...more,
  };
  Object.assign(process.env, variables);
  onEnd(t, () => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
  return readTelemetry(variables) as TelemetrySettings;
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

// biome-ignore-start lint/suspicious/noExplicitAny: decoded JSON
function spansOf({ resource, scopeSpans }: any): ReceivedSpan[] {
  const service = attributesOf(resource.attributes)["service.name"] as string;
  return scopeSpans.flatMap(({ spans }: any) =>
    spans.map((span: any) => ({
      service,
      name: span.name,
      traceId: span.traceId,
      spanId: span.spanId,
      parentSpanId: span.parentSpanId || undefined,
      kind: span.kind,
      attributes: attributesOf(span.attributes ?? []),
      startedAt: Number(span.startTimeUnixNano) / 1e6,
      endedAt: Number(span.endTimeUnixNano) / 1e6,
      error: span.status?.code === 2 ? span.status.message : undefined,
    })),
  );
}

function metricsOf({ scopeMetrics }: any): ReceivedMetric[] {
  return scopeMetrics.flatMap(({ metrics }: any) =>
    metrics.map(({ name, unit, sum, gauge, histogram }: any) => ({
      name,
      unit,
      isMonotonic: sum?.isMonotonic,
      points: (sum ?? gauge ?? histogram).dataPoints.map((point: any) => ({ ...point, attributes: attributesOf(point.attributes) })),
    })),
  );
}

function attributesOf(list: any[]): Record<string, unknown> {
  const plain = (value: any) => value.stringValue ?? value.doubleValue ?? Number(value.intValue);
  return Object.fromEntries(list.map(({ key, value }) => [key, plain(value)]));
}
// biome-ignore-end lint/suspicious/noExplicitAny: decoded JSON
