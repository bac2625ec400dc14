/** With the standard variables traces and metrics are exported by OTLP; a collector that is away harms nothing; without them nothing is loaded. */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { pino } from "pino";
import { serveApp, syncApp } from "./support/apps/app-server.ts";
import { isWhole, pathTo, SENDER, TRACEPARENT } from "./support/apps/trace-checks.ts";
import { APP_SERVICE, withAppSpans } from "./support/apps/traced-app.ts";
import { test } from "./support/both-stores.ts";
import { freePort } from "./support/free-port.ts";
import { exportTo, type ReceivedSpan, startOtlpReceiver } from "./support/otlp-receiver.ts";
import { INLET_MODULES_BIN, startInlet } from "./support/process.ts";
import { endedRun, runDetails, until } from "./support/runs.ts";
import { call, EVENT_KEY, SIGNING_KEY, startTestService, temporaryFolder } from "./support/service.ts";
import { queryStore } from "./support/store-contents.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

/** Prints what is loaded of OpenTelemetry and of the packages that not every process needs. */
const WATCH_LOADING = `import { registerHooks } from "node:module";
registerHooks({ resolve(specifier, context, next) {
  if (/opentelemetry|^(ajv|marked|pg|ws|@fastify\\/busboy|openid-client)\\b/.test(specifier)) process.stderr.write("LOADED " + specifier + "\\n");
  return next(specifier, context);
} });`;
const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(WATCH_LOADING)}`;

function clientOf(url: string): Inlet {
  return new Inlet({ id: "shop", baseUrl: url, eventKey: EVENT_KEY, signingKey: SIGNING_KEY, isDev: false });
}

test("one trace leads from the sender through receive, transform, store, queue and calls into the app's own spans", async (t) => {
  const collector = await startOtlpReceiver(t);
  const service = await startTestService(t, {
    telemetry: exportTo(t, collector.url, { OTEL_EXPORTER_OTLP_HEADERS: "authorization=secret" }),
  });
  const client = clientOf(service.url);
  const child = client.createFunction({ id: "child" }, { event: "app/never" }, () => "invoked");
  const second = client.createFunction({ id: "second" }, { event: "app/second" }, () => "sent");
  const first = client.createFunction({ id: "first" }, { event: "hook/received" }, async ({ step }) => {
    await step.run("work", () => 1);
    const { ids } = await step.sendEvent("send", { name: "app/second", data: {} });
    await step.invoke("invoke", { function: child, data: {} });
    return ids[0];
  });
  const app = await serveApp(t, withAppSpans(t, collector.url, serve({ client, functions: [first, second, child] })));
  await syncApp(service, app.url);
  const webhook = await makeWebhook(service);
  const { body } = await post(webhook.url, {}, { traceparent: TRACEPARENT });
  const run = await endedRun(service, body.ids[0]);
  assert.equal(run.status, "completed", JSON.stringify(run));
  const sent = await endedRun(service, run.output);

  const spans = await until("every span of the trace", () => {
    const found = collector.spans().filter(({ traceId }) => traceId === SENDER.traceId);
    const isThere = ["work", "send", "invoke"].every((name) => stepNamed(found, name)) && callOf(found, sent.id);
    return isThere && isWhole(found) ? found : undefined;
  });
  const work = stepNamed(spans, "work") as ReceivedSpan;
  assert.deepEqual(pathTo(spans, work), ["receive", "call", "step"]);
  assert.deepEqual(work.attributes["inlet.function.id"], "shop-first");
  const names = (parent: string | undefined) => spans.filter(({ parentSpanId }) => parentSpanId === parent).map(({ name }) => name);
  assert.deepEqual(names(SENDER.spanId), ["receive"]);
  const received = spans.find(({ parentSpanId }) => parentSpanId === SENDER.spanId) as ReceivedSpan;
  for (const name of ["transform", "store", "queue wait", "call"]) assert.ok(names(received.spanId).includes(name), name);
  assert.deepEqual([received.kind, received.attributes["inlet.outcome"], received.attributes["inlet.events"]], [2, "accepted", 1]);
  for (const handled of spans.filter(({ service: name }) => name === APP_SERVICE)) assert.equal(pathTo(spans, handled).at(-2), "call");

  // An event sent by a step, and a run that was invoked, belong to the same trace.
  assert.deepEqual(pathTo(spans, callOf(spans, sent.id) as ReceivedSpan), ["receive", "receive", "call"]);
  const invoked = (run.steps ?? []).find(({ kind }) => kind === "invoke");
  const invokedRun = await runDetails(service, invoked.childRunId);
  assert.deepEqual(pathTo(spans, callOf(spans, invokedRun.id) as ReceivedSpan), ["receive", "call"]);
  for (const { startedAt, endedAt } of spans) assert.ok(startedAt <= endedAt && endedAt - startedAt < 60_000);
  const ofMetrics = () => collector.requests.filter(({ path }) => path === "/v1/metrics");
  await until("metrics", () => (ofMetrics().length > 0 ? true : undefined));
  assert.deepEqual(new Set(ofMetrics().map(({ authorization }) => authorization)), new Set(["secret"]));
});

const stepNamed = (spans: readonly ReceivedSpan[], name: string) => spans.find(({ attributes }) => attributes["inlet.step.name"] === name);

const callOf = (spans: readonly ReceivedSpan[], runId: string) =>
  spans.find(({ name, attributes }) => name === "call" && attributes["inlet.run.id"] === runId);

test("an event without a trace begins one, which its calls continue; metrics are those of /metrics", async (t) => {
  const collector = await startOtlpReceiver(t);
  const service = await startTestService(t, { mode: "dev", telemetry: exportTo(t, collector.url) });
  const client = new Inlet({ id: "shop", baseUrl: service.url, isDev: true });
  const greet = client.createFunction({ id: "greet" }, { event: "app/greet" }, ({ step }) => step.run("one", () => 1));
  const app = await serveApp(t, withAppSpans(t, collector.url, serve({ client, functions: [greet] })));
  await syncApp(service, app.url);
  const { body } = await service.send({ name: "app/greet", data: {} });
  await service.send({ name: "", data: {} });
  const run = await endedRun(service, body.ids[0]);
  const handled = await until("the app's span", () => collector.spans().find(({ service: name }) => name === APP_SERVICE));
  const spans = await until("all spans", () => {
    const found = collector.spans().filter(({ traceId }) => traceId === handled.traceId);
    return found.some(({ name }) => name === "receive") && callOf(found, run.id) ? found : undefined;
  });
  assert.equal(spans.find(({ name }) => name === "receive")?.parentSpanId, undefined);
  const refused = await until("the refused request", () =>
    collector.spans().find(({ attributes }) => attributes["inlet.outcome"] === "event_invalid"),
  );
  assert.equal(refused.error, undefined, "a sender's fault is no failure of the service");
  await queryStore(service, "ALTER TABLE dedup_keys RENAME TO out_of_reach");
  assert.equal((await service.send({ name: "app/greet", data: {}, id: "one" })).status, 500);
  await queryStore(service, "ALTER TABLE out_of_reach RENAME TO dedup_keys");
  const failed = await until("the request that failed", () =>
    collector.spans().find(({ attributes }) => attributes["inlet.outcome"] === "internal_error"),
  );
  assert.deepEqual([failed.name, failed.error], ["receive", "A fault of the service; its log has the cause."]);

  const counter = (name: string) => collector.metrics().find((metric) => metric.name === name);
  const ended = await until("the run's end among the metrics", () => {
    const found = counter("inlet_runs_ended_total");
    return found?.points.length ? found : undefined;
  });
  const labels = { environment: "dev", function: "shop-greet", status: "completed" };
  assert.deepEqual([ended.isMonotonic, ended.points[0].asDouble, ended.points[0].attributes], [true, 1, labels]);
  const { text } = await call(`${service.url}/metrics`);
  const shown = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(
    collector
      .metrics()
      .map(({ name }) => name)
      .sort(),
    shown.sort(),
  );
  const durations = counter("inlet_run_duration_seconds");
  const [point] = durations?.points ?? [];
  assert.deepEqual([durations?.unit, Number(point.count)], ["s", 1]);
  assert.equal(point.bucketCounts.length, point.explicitBounds.length + 1);
  assert.equal(
    point.bucketCounts.map(Number).reduce((sum: number, count: number) => sum + count, 0),
    1,
  );
});

test("a collector that is away harms nothing; the log says so once, and when it is back", async (t) => {
  const port = await freePort();
  const logged: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  const more = { OTEL_EXPORTER_OTLP_TIMEOUT: "2000", OTEL_METRICS_EXPORTER: "none" };
  const service = await startTestService(t, { log, telemetry: exportTo(t, `http://127.0.0.1:${port}`, more) });
  const client = clientOf(service.url);
  const greet = client.createFunction({ id: "greet" }, { event: "app/greet" }, () => "hello");
  const app = await serveApp(t, serve({ client, functions: [greet] }));
  await syncApp(service, app.url);
  const run = async () => (await endedRun(service, (await service.send({ name: "app/greet", data: {} })).body.ids[0])).status;
  const aboutTraces = () => logged.filter((line) => line.startsWith("traces"));
  assert.equal(await run(), "completed");
  await until("the outage in the log", () => (aboutTraces().length > 0 ? true : undefined));
  assert.equal(await run(), "completed");

  const collector = await startOtlpReceiver(t, port);
  await until("exports again", async () => {
    assert.equal(await run(), "completed");
    return collector.spans().length > 0 && aboutTraces().length > 1 ? true : undefined;
  });
  // A busy machine may exceed the timeout again: each outage has these two lines.
  const lines = ["traces cannot be exported; nothing else is affected", "traces are exported again"];
  assert.deepEqual(
    aboutTraces(),
    aboutTraces().map((_, n) => lines[n % 2]),
  );
});

// What is loaded and when it is exported does not depend on the store: the two that follow, as processes, use one.
testOnce("a start loads nothing that exports without the variables, and no package that only some requests need", async (t) => {
  const flags = ["--port", "0", "--host", "127.0.0.1", "--discover", "off", "--event-key", "mine"];
  const inlet = await startInlet(
    t,
    ["start", ...flags, "--data-dir", temporaryFolder(t)],
    { NODE_OPTIONS, OTEL_SERVICE_NAME: "mine" },
    INLET_MODULES_BIN,
  );
  assert.equal((await call(`${inlet.url}/e/mine`, { method: "POST", body: '{"name":"a","data":{}}' })).status, 200);
  assert.equal(await inlet.end("SIGTERM"), 0);
  // The library of metrics loads the interfaces by itself.
  assert.doesNotMatch(inlet.stderr(), /LOADED (?!@opentelemetry\/api$)/m);
  assert.match(inlet.stderr(), /LOADED/, "what is loaded is seen");
});

testOnce("a stop exports what is left, as protobuf unless told otherwise", async (t) => {
  const collector = await startOtlpReceiver(t);
  const flags = ["--port", "0", "--host", "127.0.0.1", "--discover", "off", "--event-key", "mine"];
  // Only a stop exports so early.
  const batch = { OTEL_BSP_SCHEDULE_DELAY: "3600000", OTEL_METRIC_EXPORT_INTERVAL: "3600000" };
  const variables = { NODE_OPTIONS, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: "my-inlet", ...batch };
  const inlet = await startInlet(t, ["start", ...flags, "--data-dir", temporaryFolder(t)], variables, INLET_MODULES_BIN);
  const body = '{"name":"a","data":{}}';
  assert.equal((await call(`${inlet.url}/e/mine`, { method: "POST", body, headers: { traceparent: TRACEPARENT } })).status, 200);
  assert.equal(collector.requests.length, 0, "spans are exported in batches");
  assert.equal(await inlet.end("SIGTERM"), 0);
  assert.match(inlet.stderr(), /LOADED @opentelemetry\/sdk-trace/);
  const traces = collector.requests.find(({ path }) => path === "/v1/traces");
  assert.equal(traces?.contentType, "application/x-protobuf");
  for (const part of [Buffer.from(SENDER.traceId, "hex"), "receive", "store", "my-inlet"])
    assert.ok(traces?.body.includes(part), String(part));
  assert.ok(collector.requests.some(({ path, body: sent }) => path === "/v1/metrics" && sent.includes("inlet_events_accepted_total")));
});
