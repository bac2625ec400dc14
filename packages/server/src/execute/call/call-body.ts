/**
 * The body of a call, as canonical JSON: published SDKs verify its signature over the body they parsed and serialised again, which
 * requires a unique form. Keys are written here in sorted order; payloads are sorted by canonicalJson.
 * Our own SDK verifies the bytes it received, so for it numbers beyond double precision keep their digits.
 */

import { canonicalJson, eventJson } from "@inlet/protocol";
import type { RunContext, StoredEvent } from "../../store/contract/index.ts";

export interface CallParameters {
  context: RunContext;
  functionUuid: string;
  stepId: string;
  attempt: number;
  maxAttempts: number;
  /** Identifies this call of the run to an SDK that sends checkpoints. */
  callId: string;
  exactNumbers: boolean;
  /** Our own SDK is told that the service keeps log lines, and fetches the event of a large call, too: other SDKs get exactly the protocol they know. */
  isOwnSdk: boolean;
}

/** Beyond this size, the SDK is told to fetch events and steps itself: apps refuse endless bodies before they verify them. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;

export interface CallBody {
  text: string;
  /** The run's state is too large for the body: the SDK has to fetch it. */
  fetchesState: boolean;
}

export function callBody(params: CallParameters): CallBody {
  const { exactNumbers, context } = params;
  const events = context.events.map((event) => eventText(event, exactNumbers));
  const steps = stepsText(
    [...context.steps].sort((a, b) => (a.id < b.id ? -1 : 1)),
    exactNumbers,
  );
  const first = events[0] ?? "{}";
  const usesApi = [first, ...events, steps].reduce((sum, text) => sum + Buffer.byteLength(text), 0) > BODY_BYTES_MAX;
  const parts = usesApi
    ? { event: params.isOwnSdk ? "{}" : first, events: "[]", steps: "{}" }
    : { event: first, events: `[${events.join(",")}]`, steps };
  const text = `{"ctx":${contextText(params, usesApi)},"event":${parts.event},"events":${parts.events},"steps":${parts.steps},"use_api":${usesApi},"version":${context.run.requestVersion}}`;
  return { text, fetchesState: usesApi };
}

function contextText({ context, functionUuid, stepId, attempt, maxAttempts, callId, isOwnSdk }: CallParameters, usesApi: boolean): string {
  const { run, steps } = context;
  return JSON.stringify({
    attempt,
    disable_immediate_execution: run.isParallel,
    env: "",
    fn_id: functionUuid,
    job_id: callId,
    ...(isOwnSdk && { logs: true }),
    max_attempts: maxAttempts,
    qi_id: callId,
    request_id: `${run.id}.${callId}`,
    run_id: run.id,
    stack: { current: steps.length, stack: usesApi ? [] : steps.map(({ id }) => id) },
    step_id: stepId,
    use_api: usesApi,
  });
}

/** Results by step, in the given order: SDKs that fetch them take it for the order in which the steps ended. */
export function stepsText(steps: RunContext["steps"], exactNumbers: boolean): string {
  return `{${steps.map(({ id, value }) => `${JSON.stringify(id)}:${canonicalJson(value, { exactNumbers })}`).join(",")}}`;
}

/** An event as functions receive it: as sent, with the sender's id or, without one, the Event ID. */
export function eventText(event: Omit<StoredEvent, "sequence">, exactNumbers: boolean): string {
  return canonicalJson(eventJson(event), { exactNumbers });
}
