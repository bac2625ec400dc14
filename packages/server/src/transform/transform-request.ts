/** The transform stage: a webhook request becomes an event, or a refusal with a reason. */

import { jsonMembers, Refusal, readEvent, type SentEvent } from "@inlet/protocol";
import { type RequestBody, type RequestBodyParams, readRequestBody } from "./body/request-body.ts";
import { overloadedRefusal } from "./overloaded-refusal.ts";
import type { TransformRunner } from "./threads/transform-runner.ts";
import type { TransformFault, TransformOutcome, TransformOwner, TransformSuccess } from "./transform-outcome.ts";

export interface TransformRequestParams extends RequestBodyParams {
  /** Identifies the source of the transform, so that it is compiled once. */
  versionKey: string;
  owner?: TransformOwner;
  transform: string;
  headers: Readonly<Record<string, string>>;
  queryParams: Readonly<Record<string, readonly string[]>>;
}

export interface TransformedRequest {
  result: SentEvent | Refusal;
  /** Null if it could not be read at all. */
  body: RequestBody | null;
  logs: string[];
  durationMs: number;
  /** The position of the error in the transform. */
  fault?: TransformFault | undefined;
  /** What the transform returned, as JSON text. */
  eventJson?: string | undefined;
}

export async function transformRequest(runner: TransformRunner, params: TransformRequestParams): Promise<TransformedRequest> {
  const read = await readRequestBody(params);
  if (!read.ok) return { result: read.refusal, body: null, logs: [], durationMs: 0 };
  const { versionKey, owner, transform: source, headers, queryParams, bytesMax: resultBytesMax } = params;
  const { evtJson, raw } = read.body;
  const outcome = await runner.run({ versionKey, owner, source, evtJson, headers, queryParams, raw, resultBytesMax });
  const { logs, durationMs } = outcome;
  const { result, fault } = resultOf(outcome);
  return { result, fault, body: read.body, logs, durationMs, eventJson: outcome.ok ? outcome.eventJson : undefined };
}

/** Also used for tests of a transform. */
export function resultOf(outcome: TransformOutcome): Pick<TransformedRequest, "result" | "fault"> {
  if (outcome.ok) return { result: readTransformedEvent(outcome) };
  const { code, message, line, column } = outcome;
  const place = line === undefined ? "" : ` (line ${line}${column === undefined ? "" : `, column ${column}`})`;
  const fault: TransformFault = { code, message, ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
  return { result: code === "overloaded" ? overloadedRefusal(fault) : new Refusal(code, `${message}${place}`), fault };
}

/** The result of a transform is validated by the same rules as a client's events. */
function readTransformedEvent({ eventJson: json }: TransformSuccess): SentEvent | Refusal {
  const faults: { field: string; message: string }[] = [];
  const event = readEvent(json, jsonMembers(json), (field, message) => faults.push({ field, message }));
  if (event) return event;
  const [first] = faults;
  const message = `The transform did not return a valid event: ${first?.field} ${first?.message}.`;
  return new Refusal(
    "transform_invalid_event",
    message,
    faults.map((fault) => ({ index: 0, ...fault })),
  );
}
