/** Metrics: their names, labels and values after known traffic, who may read them, and the dashboard that draws them. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { NonRetriableError } from "@inlet/sdk";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { endedRun, until } from "./support/runs.ts";
import { API_KEY, call, startTestService, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook, post } from "./support/webhooks.ts";

/** Labels by metric, as the contract names them. */
const LABELS: Record<string, string[]> = {
  inlet_events_accepted_total: ["environment", "source"],
  inlet_events_duplicate_total: ["environment"],
  inlet_events_refused_total: ["environment", "code"],
  inlet_webhook_requests_total: ["environment", "outcome"],
  inlet_transform_duration_seconds: [],
  inlet_commit_duration_seconds: [],
  inlet_commit_events: [],
  inlet_queue_length: ["environment", "function"],
  inlet_queue_age_seconds: ["environment", "function"],
  inlet_calls_total: ["environment", "function", "outcome"],
  inlet_call_retries_total: ["environment", "function"],
  inlet_runs_started_total: ["environment", "function"],
  inlet_runs_ended_total: ["environment", "function", "status"],
  inlet_run_duration_seconds: [],
  inlet_event_loop_delay_seconds: [],
  inlet_usage_events_accepted: ["environment"],
  inlet_usage_events_duplicate: ["environment"],
  inlet_usage_events_refused: ["environment"],
  inlet_usage_bytes: ["environment"],
  inlet_usage_runs: ["environment"],
  inlet_usage_calls: ["environment"],
  inlet_usage_transform_seconds: ["environment"],
  inlet_usage_quota_limit: ["environment", "quota"],
  inlet_store_bytes: [],
};

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const BEARER = { headers: { authorization: `Bearer ${API_KEY}` } };

function parse(text: string): Sample[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? assert.fail(`not a sample: ${line}`);
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });
}

async function read(service: TestService): Promise<Sample[]> {
  const { status, headers, text } = await call(`${service.url}/metrics`, BEARER);
  assert.equal(status, 200);
  assert.match(headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  return parse(text);
}

function sampleValue(samples: Sample[], name: string, labels: Record<string, string> = {}): number | undefined {
  return samples.find((sample) => sample.name === name && Object.entries(labels).every(([key, text]) => sample.labels[key] === text))
    ?.value;
}

/** Sends one of everything that is counted. */
async function busyService(t: TestContext): Promise<TestService> {
  const service = await startTestService(t, { flags: ["--retry-interval", "20ms"] });
  await service.rest("PUT", "/environments/production", { body: { quotas: { eventsPerDay: 1_000_000 } } });
  let failures = 1;
  await startApp(t, service, (client) => [
    client.createFunction({ id: "greet" }, { event: "app/greet" }, async ({ step }) => step.run("once", () => "hi")),
    client.createFunction({ id: "stumble" }, { event: "app/stumble" }, async () => {
      if (failures-- > 0) throw new Error("not yet");
    }),
    client.createFunction({ id: "fail" }, { event: "app/fail" }, async () => {
      throw new NonRetriableError("never");
    }),
  ]);
  const sent = async (name: string, id?: string) => (await service.send({ name, data: {}, ...(id && { id }) })).body.ids[0] as string;
  const greeted = await sent("app/greet", "one");
  await sent("app/greet", "one");
  const [stumbled, failed] = [await sent("app/stumble"), await sent("app/fail")];
  await service.send({ name: "", data: {} });
  const webhook = await makeWebhook(service, ECHO);
  await post(webhook.url, { name: "hook/came", data: {} });
  for (const id of [greeted, stumbled, failed]) await endedRun(service, id);
  // A run is counted a moment after its end is stored.
  await until(
    "the ended runs to be counted",
    async () => sampleValue(await read(service), "inlet_run_duration_seconds_count") === 3 || undefined,
  );
  return service;
}

test("metrics have the names and labels of the contract, count what happened, and are what the Grafana dashboard queries", async (t) => {
  const service = await busyService(t);
  const here = { environment: "production" };
  const samples = await read(service);
  for (const [name, labels] of Object.entries(LABELS)) {
    const own = samples.filter((sample) => sample.name.replace(/_(bucket|sum|count)$/, "") === name || sample.name === name);
    // A retried call has left the queue by now.
    if (!name.startsWith("inlet_queue_")) assert.ok(own.length > 0, name);
    for (const sample of own) {
      const found = Object.keys(sample.labels).filter((label) => label !== "le");
      assert.deepEqual(found.sort(), [...labels].sort(), `${name} ${JSON.stringify(sample.labels)}`);
    }
  }
  const value = (name: string, labels: Record<string, string> = {}) => sampleValue(samples, name, { ...here, ...labels });
  assert.equal(value("inlet_events_accepted_total", { source: "key" }), 3);
  assert.equal(value("inlet_events_accepted_total", { source: "webhook" }), 1);
  assert.equal(value("inlet_events_duplicate_total"), 1);
  assert.equal(value("inlet_events_refused_total", { code: "event_invalid" }), 1);
  assert.equal(value("inlet_webhook_requests_total", { outcome: "accepted" }), 1);
  assert.equal(value("inlet_runs_started_total", { function: "shop-greet" }), 1);
  assert.equal(value("inlet_runs_ended_total", { function: "shop-greet", status: "completed" }), 1);
  assert.equal(value("inlet_runs_ended_total", { function: "shop-fail", status: "failed" }), 1);
  assert.equal(value("inlet_calls_total", { function: "shop-stumble", outcome: "error" }), 1);
  assert.equal(value("inlet_calls_total", { function: "shop-stumble", outcome: "ok" }), 1);
  assert.equal(value("inlet_call_retries_total", { function: "shop-stumble" }), 1);
  assert.equal(value("inlet_runs_started_total", { function: "shop-stumble" }), 1, "a retried first call starts no second run");
  const total = (name: string) => sampleValue(samples, name);
  assert.equal(total("inlet_run_duration_seconds_count"), 3);
  assert.equal(total("inlet_transform_duration_seconds_count"), 1);
  assert.ok((total("inlet_commit_duration_seconds_count") ?? 0) >= 3);
  assert.ok((total("inlet_commit_events_sum") ?? 0) >= 4);
  assert.ok((total("inlet_store_bytes") ?? 0) > 10_000);
  assert.ok(!samples.some(({ labels }) => Object.values(labels).some((text) => text.startsWith("app/"))), "event names are no label");
  checkDashboard(samples);
});

test("calls that wait are counted by function, and more than 200 functions share the label other", async (t) => {
  const service = await startTestService(t);
  const gate = Promise.withResolvers<void>();
  const app = await startApp(t, service, (client) => [
    client.createFunction({ id: "held", concurrency: 1 }, { event: "app/held" }, () => gate.promise),
    ...Array.from({ length: 202 }, (_, n) => client.createFunction({ id: `f${n}`, concurrency: 1 }, { event: "app/all" }, async () => n)),
  ]);
  const held = (await service.send(Array.from({ length: 3 }, () => ({ name: "app/held", data: {} })))).body.ids;
  const ofHeld = { environment: "production", function: "shop-held" };
  await until("one call in progress and two that wait", async () => {
    const found = await read(service);
    const age = sampleValue(found, "inlet_queue_age_seconds", ofHeld) ?? 0;
    return (sampleValue(found, "inlet_queue_length", ofHeld) === 3 && age > 0 && age < 900) || undefined;
  });
  gate.resolve();
  for (const id of held) await endedRun(service, id);
  const length = async () => sampleValue(await read(service), "inlet_queue_length", ofHeld) ?? 0;
  await until("an empty queue", async () => (await length()) === 0 || undefined);
  await app.stop();
  await service.send({ name: "app/all", data: {} });
  // The first 200 have a label of their own.
  const started = await until("every function to have been called", async () => {
    const calls = (await read(service)).filter(({ name }) => name === "inlet_runs_started_total");
    const labels = calls.map(({ labels: { function: label } }) => label);
    return calls.reduce((sum, { value }) => sum + value, 0) >= 205 && labels.length >= 201 ? labels : undefined;
  });
  assert.equal(started.length, 201);
  assert.equal(started.filter((label) => label === "other").length, 1);
});

test("keys that may read, and those with the role metrics, read metrics; nobody else does", async (t) => {
  const service = await startTestService(t);
  const made = async (extra: object) => {
    const { body } = await service.rest("POST", "/keys", { body: { kind: "api", name: "k", ...extra } });
    return { headers: { authorization: `Bearer ${body.data.key}` } };
  };
  const code = async (init: RequestInit) => {
    const { status, body } = await call(`${service.url}/metrics`, init);
    return body?.code ?? status;
  };
  for (const role of ["metrics", "viewer", "operator", "read"]) assert.equal(await code(await made({ role })), 200, role);
  assert.equal(await code({}), "api_key_missing");
  assert.equal(await code({ headers: { authorization: "Bearer wrong" } }), "api_key_invalid");
  assert.equal(
    await code(await made({ environments: ["production"] })),
    200,
    "of its environments, which roles-hold-in-their-environments looks at",
  );
});

test("--metrics-listen opens them on an address of their own, and nothing else there", async (t) => {
  const service = await startTestService(t, { flags: ["--metrics-listen", "127.0.0.1:0"] });
  const url = service.metricsUrl ?? assert.fail("no address");
  const { status, text } = await call(url);
  assert.equal(status, 200);
  assert.match(text, /^inlet_store_bytes \d/m);
  assert.equal((await call(url.replace("/metrics", "/v1/events"))).status, 404);
  const taken = startTestService(t, { flags: ["--metrics-listen", new URL(url).host] });
  await assert.rejects(taken, /--metrics-listen/);
});

function checkDashboard(samples: readonly Sample[]): void {
  const dashboard = JSON.parse(readFileSync(new URL("../../../deploy/grafana/inlet.json", import.meta.url), "utf8"));
  const queries: string[] = [
    ...dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
    ...dashboard.templating.list.flatMap(({ definition }: { definition?: string }) => definition ?? []),
  ];
  const drawn = new Set<string>();
  assert.ok(
    queries.length > dashboard.panels.length && dashboard.panels.every(({ targets }: { targets: unknown[] }) => targets.length > 0),
  );
  for (const query of queries) {
    const metrics = [...query.matchAll(/\b(inlet_\w+)(?:\{([^}]*)\})?/g)];
    assert.ok(metrics.length > 0, `no metric in ${query}`);
    for (const [, metric = "", selector = ""] of metrics) {
      const base = metric.replace(/_bucket$/, "");
      drawn.add(base);
      const known = LABELS[base] ?? assert.fail(`${query}: there is no ${base}`);
      if (!base.startsWith("inlet_queue_"))
        assert.ok(
          samples.some(({ name }) => name === metric),
          query,
        );
      for (const label of [...labelsIn(selector), ...groupedBy(query)])
        assert.ok(known.includes(label), `${query}: ${base} has no label ${label}`);
    }
  }
  assert.deepEqual([...drawn].sort(), Object.keys(LABELS).sort(), "every metric is drawn");
}

function labelsIn(selector: string): string[] {
  return [...selector.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = ""]) => label);
}

function groupedBy(query: string): string[] {
  const grouped = [...query.matchAll(/ by \(([^)]*)\)/g)].flatMap(([, labels = ""]) => labels.split(", "));
  return [...grouped.filter((label) => label !== "le"), ...(/label_values\(\w+, (\w+)\)/.exec(query)?.slice(1) ?? [])];
}
