/** With a published SDK: one trace leads from the sender's `traceparent` through the service into the app's own spans. */

import assert from "node:assert/strict";
import { test } from "../both-stores.ts";
import { exportTo, type ReceivedSpan, startOtlpReceiver } from "../otlp-receiver.ts";
import { endedRun, until } from "../runs.ts";
import { EVENT_KEY, startTestService } from "../service.ts";
import { serveApp, syncApp } from "./app-server.ts";
import type { PublishedSdk } from "./published-sdk.ts";
import { APP_SERVICE, withAppSpans } from "./traced-app.ts";

export const SENDER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
export const TRACEPARENT = `00-${SENDER.traceId}-${SENDER.spanId}-01`;

export function checkTraces(sdk: PublishedSdk): void {
  test(`${sdk.name}: one trace leads from the sender into the app's own spans`, async (t) => {
    const collector = await startOtlpReceiver(t);
    const service = await startTestService(t, { mode: "dev", telemetry: exportTo(t, collector.url) });
    const client = sdk.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: true });
    const traced = client.createFunction({ id: "traced" }, [{ event: "app/traced" }], ({ step }) => step.run("one", () => 1));
    const app = await serveApp(t, withAppSpans(t, collector.url, sdk.listener(client, [traced])));
    await syncApp(service, app.url);

    const { body } = await service.send({ name: "app/traced", data: {} }, { headers: { traceparent: TRACEPARENT } });
    const run = await endedRun(service, body.ids[0]);
    assert.equal(run.status, "completed");
    const spans = await until("the app's span, the step's and those above them", () => {
      const found = collector.spans().filter(({ traceId }) => traceId === SENDER.traceId);
      // A step is reported before its call ends, and a span is exported when it has ended.
      return ["handle", "step", "call"].every((name) => found.some((span) => span.name === name)) && isWhole(found) ? found : undefined;
    });
    const handled = spans.find(({ service: name }) => name === APP_SERVICE) as ReceivedSpan;
    assert.deepEqual(pathTo(spans, handled), ["receive", "call", "handle"]);
  });
}

/** Whether no span lacks its parent. */
export function isWhole(spans: readonly ReceivedSpan[]): boolean {
  const known = new Set<string | undefined>([SENDER.spanId, ...spans.map(({ spanId }) => spanId)]);
  return spans.every(({ parentSpanId }) => known.has(parentSpanId));
}

/** The names of the spans from the sender down to this one; fails if a link is missing. */
export function pathTo(spans: readonly ReceivedSpan[], span: ReceivedSpan): string[] {
  if (span.parentSpanId === SENDER.spanId) return [span.name];
  const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
  assert.ok(parent, `the span above ${span.name} was not exported`);
  return [...pathTo(spans, parent), span.name];
}
