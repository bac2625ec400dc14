/** A store with something of every kind in it, put there through a service, and everything that the service says of it. */

import assert from "node:assert/strict";
import type { TestService } from "./service.ts";
import { makeWebhook, post } from "./webhooks.ts";

/** Every string JavaScript has may be an id: one half of a pair, a backslash, a NUL; and one longer than an index of PostgreSQL takes. */
export const STRANGE_IDS = ["plain", "back\\slash", "nul\u0000", "half\ud800", "long-".repeat(100)];
export const EXACT = '{"z":1,"a":12345678901234567890.10,"text":"caf\\u00e9 \\u0000 é","nested":{"b":[1e400,{}],"b":2}}';

export interface Sent {
  sleep: string;
  wait: string;
  fail: string;
  exact: string;
  strange: string[];
  webhook: string;
  oldToken: string;
}

/** Something of every kind, through the service itself. */
export async function fill(service: TestService): Promise<Sent> {
  const send = async (event: unknown, environment?: string) => {
    const { status, text, body } = await service.send(
      event,
      environment === undefined ? {} : { headers: { "x-service-env": environment } },
    );
    assert.equal(status, 200, text);
    return body.ids[0] as string;
  };
  const exact = await send(`{"name":"shop/exact","data":${EXACT},"v":"2","user":{"id":"ü"}}`);
  const strange: string[] = [];
  for (const id of STRANGE_IDS) strange.push(await send({ name: "shop/odd", id, data: { id } }));
  const sleep = await send({ name: "shop/sleep", data: {} });
  const wait = await send({ name: "shop/wait", data: { order: 7 } });
  const fail = await send({ name: "shop/fail", data: {} });
  for (const n of [1, 2, 3]) await send({ name: "shop/often", data: { n } });
  await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
  await service.rest("POST", "/environments", { body: { name: "feature/cart", kind: "branch" } });
  await service.rest("POST", "/environments/feature%2Fcart/archive");
  const key = (await service.rest("POST", "/keys", { body: { kind: "event", name: "gone" }, headers: { "idempotency-key": "once" } })).body
    .data;
  await service.rest("DELETE", `/keys/${key.id}`);
  const webhook = await makeWebhook(service);
  await post(webhook.url, { first: 1 });
  await service.rest("PUT", `/webhooks/${webhook.id}`, {
    body: { transform: 'function transform(evt) { return { name: "hook/\\\\two", data: evt } }' },
  });
  await post(webhook.url, { second: 2 });
  await post(webhook.url, "not json");
  await service.rest("POST", `/webhooks/${webhook.id}/rotate`);
  await service.rest("POST", "/approvals", { body: { signal: "back\\slash", prompt: "May we?", data: { a: "\\" }, timeout: "1d" } });
  await service.rest("PUT", "/saved-filters", { body: { list: "runs", name: "failed\\today", search: { status: "failed" } } });
  return { sleep, wait, fail, exact, strange, webhook: webhook.id, oldToken: webhook.url };
}

/** Every list REST has, and every run in full, as text. */
export async function everythingShown(service: TestService, webhook: string): Promise<Record<string, string>> {
  const paths = [
    "/events?limit=100",
    "/runs?limit=100",
    "/environments",
    "/keys",
    "/webhooks",
    "/apps",
    "/functions",
    "/audit-log",
    "/event-types",
    "/approvals",
    "/saved-filters",
  ];
  paths.push(`/webhooks/${webhook}/versions`, `/webhooks/${webhook}/requests`);
  for (const { id } of (await service.rest("GET", "/runs?limit=100")).body.data) paths.push(`/runs/${id}`);
  for (const { id } of (await service.rest("GET", "/events?limit=100")).body.data) paths.push(`/events/${id}`);
  const shown: Record<string, string> = {};
  for (const path of paths) {
    const { status, text } = await service.rest("GET", path);
    assert.equal(status, 200, `${path}: ${text}`);
    shown[path] = text.replace(/http:\/\/127\.0\.0\.1:\d+/g, "http://here");
  }
  return shown;
}
