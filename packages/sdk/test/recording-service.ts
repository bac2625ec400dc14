/** A small real server in the place of the service: keeps every request, answers as a test says or as the service would. */

import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { createEventIdGenerator, parseEventIdSeed, seededEventId } from "@inlet/protocol";
import { listen } from "./listen.ts";

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface ScriptedResponse {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** Breaks the connection instead. */
  drop?: boolean;
}

export interface RecordingService {
  url: string;
  requests: RecordedRequest[];
  /** Events stored, by Event ID: the same id twice is one event. */
  events: Map<string, { name: string; data: unknown; sender: string | undefined }>;
  /** Answers to give first, in order. */
  script: ScriptedResponse[];
  /** Answers by path, for what the service itself would know. */
  files: Map<string, unknown>;
}

export async function startRecordingService(t: TestContext): Promise<RecordingService> {
  const service: RecordingService = { url: "", requests: [], events: new Map(), script: [], files: new Map() };
  service.url = await listen(t, async (request, response) => {
    const body = await text(request);
    const path = request.url ?? "";
    const recorded = { method: request.method ?? "", path, headers: request.headers, body };
    service.requests.push(recorded);
    const answer = service.script.shift() ?? answerTo(service, recorded);
    if (answer.drop) {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body ?? {}));
  });
  return service;
}

const ids = createEventIdGenerator();

function answerTo(service: RecordingService, { path, headers, body }: RecordedRequest): ScriptedResponse {
  if (path.startsWith("/e/")) return { status: 200, body: { ids: store(service, headers, JSON.parse(body)), status: 200 } };
  if (path.startsWith("/fn/register")) return { status: 200, body: { ok: true, modified: true } };
  if (service.files.has(path)) return { status: 200, body: service.files.get(path) };
  return { status: 404, body: { error: "not found", code: "not_found", status: 404 } };
}

function store(service: RecordingService, headers: IncomingHttpHeaders, sent: { name: string; data: unknown }[]): string[] {
  const seed = parseEventIdSeed(String(headers["x-inngest-event-id-seed"]));
  return sent.map(({ name, data }, index) => {
    const id = seed ? seededEventId(seed, index + 1) : ids.next(Date.now());
    if (!service.events.has(id)) service.events.set(id, { name, data, sender: headers["x-service-run"] as string | undefined });
    return id;
  });
}
