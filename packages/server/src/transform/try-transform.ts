/** Runs a transform to see what it would do: nothing is stored. The same sandbox, the same rules as for a real request. */

import { createHash } from "node:crypto";
import { canonicalName, Refusal } from "@inlet/protocol";
import { judge, type TransformedRequest, transformRequest } from "./transform-request.ts";
import type { TransformRunner } from "./transform-runner.ts";

export interface TrialRequest {
  transform: string;
  /** The parsed body as JSON text; without it `bytes` are read by their content type. */
  bodyJson?: string;
  /** The body as it would arrive. */
  bytes: Buffer;
  contentType?: string;
  /** Absent: the bytes are not encoded, whatever the headers say. */
  contentEncoding?: string;
  headers: Readonly<Record<string, string>>;
  queryParams: Readonly<Record<string, readonly string[]>>;
}

export interface TrialFault {
  code: string;
  message: string;
  line?: number;
  column?: number;
}

/** Either the event as JSON text, or the fault. */
export interface Trial {
  eventJson?: string;
  error?: TrialFault;
  logs: string[];
  durationMs: number;
}

export interface TrialLimits {
  bytesMax: number;
}

export async function tryTransform(runner: TransformRunner, request: TrialRequest, { bytesMax }: TrialLimits): Promise<Trial> {
  const headers = withContentType(canonical(request.headers), request.contentType);
  const params = {
    versionKey: `trial:${createHash("sha256").update(request.transform).digest("hex")}`,
    transform: request.transform,
    headers,
    queryParams: request.queryParams,
  };
  if (request.bodyJson !== undefined) {
    const { versionKey, transform: source, queryParams } = params;
    const raw = request.bytes.length > 0 ? request.bytes.toString() : request.bodyJson;
    const outcome = await runner.run({ versionKey, source, headers, queryParams, evtJson: request.bodyJson, raw });
    return verdict({ ...judge(outcome), logs: outcome.logs, durationMs: outcome.durationMs }, outcome.ok ? outcome.eventJson : undefined);
  }
  const { bytes, contentEncoding } = request;
  const contentType = headers["Content-Type"];
  const transformed = await transformRequest(runner, { ...params, bytes, contentType, contentEncoding, bytesMax });
  return verdict(transformed, transformed.eventJson);
}

function verdict({ result, fault, logs, durationMs }: Omit<TransformedRequest, "body">, eventJson: string | undefined): Trial {
  if (result instanceof Refusal) return { error: fault ?? { code: result.code, message: result.message }, logs, durationMs };
  return { ...(eventJson !== undefined && { eventJson }), logs, durationMs };
}

function canonical(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [canonicalName(name), value]));
}

/** A body without a type is taken for JSON, which nearly all of them are. */
function withContentType(headers: Record<string, string>, contentType: string | undefined): Record<string, string> {
  return { "Content-Type": "application/json", ...headers, ...(contentType !== undefined && { "Content-Type": contentType }) };
}
