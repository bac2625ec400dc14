/** Webhooks in tests: making one, and sending it a request as a provider would. */

import assert from "node:assert/strict";
import { type Answer, call, type TestService } from "./service.ts";

export const ECHO = `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return { name: "hook/received", data: { evt, headers, queryParams, raw } };
}`;

/** How a provider is asked that does not answer. */
export const UNREACHABLE = {
  source: "const request = () => ({ url: 'http://127.0.0.1:1/' }); const read = () => ({ items: [] });",
};

export interface TestWebhook {
  id: string;
  url: string;
  version: number;
  enabled: boolean;
}

export async function makeWebhook(
  service: TestService,
  transform = ECHO,
  extra: object = {},
  headers: Record<string, string> = {},
): Promise<TestWebhook> {
  const { status, body } = await service.rest("POST", "/webhooks", { body: { name: "test hook", transform, ...extra }, headers });
  assert.equal(status, 201, JSON.stringify(body));
  return body.data;
}

/** A POST of JSON unless told otherwise. */
export function post(url: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
  const text = typeof body === "string" || body instanceof Uint8Array ? (body as string) : JSON.stringify(body);
  return call(url, { method: "POST", body: text, headers: { "content-type": "application/json", ...headers } });
}

/** The event a webhook answered with. */
export async function eventOf(service: TestService, answer: Answer, environment = "production") {
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.body), ["ids", "status"]);
  const { body } = await service.rest("GET", `/events/${answer.body.ids[0]}`, { headers: { "x-service-env": environment } });
  return body.data;
}

export async function requestsOf(service: TestService, webhook: TestWebhook, query = "") {
  const { status, body } = await service.rest("GET", `/webhooks/${webhook.id}/requests?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.data;
}
