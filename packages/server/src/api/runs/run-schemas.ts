/** Runs as the OpenAPI document describes them. */

import { RUN_STATUSES, STEP_KINDS, WAITING_REASONS } from "../../store/contract/index.ts";
import { INSTANT, INSTANT_OR_NULL, INTEGER, JSON_VALUE, listOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

const ERROR = { anyOf: [shape({ name: TEXT, message: TEXT, stack: TEXT }, { optional: ["stack"] }), { type: "null" }] } as const;
/** The SDK's description of a step's error is passed on unchanged. */
const STEP_ERROR = { anyOf: [{ type: "object", additionalProperties: true }, { type: "null" }] } as const;

const SUMMARY = {
  id: TEXT,
  status: { type: "string", enum: RUN_STATUSES },
  function: shape({ id: TEXT, name: TEXT }),
  app: TEXT,
  environment: TEXT,
  event: {
    description: "The triggering event; null if it has been removed.",
    anyOf: [shape({ id: TEXT, name: TEXT, preview: { ...TEXT, description: "The first characters of its data." } }), { type: "null" }],
  },
  cron: { ...TEXT_OR_NULL, description: "The schedule that started it." },
  createdAt: INSTANT,
  startedAt: { ...INSTANT_OR_NULL, description: "When its app was first called." },
  endedAt: INSTANT_OR_NULL,
  originalRunId: { ...TEXT_OR_NULL, description: "The run this one repeats." },
  error: { ...ERROR, description: "Why it failed; without the stack in lists." },
  failedAttempts: {
    ...INTEGER,
    description: "How many attempts of one of its steps, or of the function itself, failed: the most of any of them.",
  },
  job: { ...TEXT_OR_NULL, description: "The id of the job that started it." },
  orderKey: {
    ...TEXT_OR_NULL,
    description: "The value of its function's ordering key, as JSON text. Null if it has none, or its event was erased.",
  },
  traceId: { ...TEXT_OR_NULL, description: "The id of the trace that its event belongs to." },
} as const;

const TRACE_URL = { ...TEXT_OR_NULL, description: "The page of its trace, if `--trace-url` is set." } as const;

export const RUN = shape(SUMMARY, { title: "Run" });

const COUNT = { type: ["integer", "null"] } as const;

const STEP = shape(
  {
    id: TEXT,
    name: TEXT,
    kind: { type: "string", enum: STEP_KINDS },
    status: { type: "string", enum: ["planned", "running", "sleeping", "waiting", "completed", "failed"] },
    attempts: INTEGER,
    startedAt: INSTANT,
    endedAt: INSTANT_OR_NULL,
    until: { ...INSTANT_OR_NULL, description: "When a sleep or a wait is over." },
    eventName: { ...TEXT_OR_NULL, description: "The event a wait is for." },
    eventId: { ...TEXT_OR_NULL, description: "The id of the event that ended a wait." },
    signal: { ...TEXT_OR_NULL, description: "The signal a step waits for." },
    approvalId: { ...TEXT_OR_NULL, description: "The approval that the step waits for." },
    url: {
      ...TEXT_OR_NULL,
      description: "The page of the approval. Its last part is a secret, and is hidden from those who may not see webhook URLs.",
    },
    childRunId: { ...TEXT_OR_NULL, description: "The run an invocation started." },
    request: {
      description: "The request of a step.fetch or step.ai.infer, without secrets.",
      anyOf: [shape({ method: TEXT, url: TEXT, headers: { type: "object", additionalProperties: TEXT } }), { type: "null" }],
    },
    tokens: {
      description: "The tokens an AI provider reports for the step.",
      anyOf: [shape({ input: COUNT, output: COUNT, total: COUNT }), { type: "null" }],
    },
    output: JSON_VALUE,
    error: STEP_ERROR,
  },
  { title: "Step" },
);

const ATTEMPT = shape(
  {
    stepId: { ...TEXT_OR_NULL, description: "Null: the function itself." },
    attempt: { ...INTEGER, description: "Counted from 0." },
    outcome: TEXT,
    startedAt: INSTANT,
    endedAt: INSTANT,
    httpStatus: { type: ["integer", "null"] },
    error: ERROR,
  },
  { title: "FailedAttempt" },
);

const LOG_LINE = shape(
  {
    at: INSTANT,
    level: { type: "string", enum: ["debug", "info", "warn", "error"] },
    message: TEXT,
    stepId: { ...TEXT_OR_NULL, description: "The step whose code wrote it. Null: the function itself." },
  },
  { title: "LogLine" },
);

const CALL = shape(
  {
    stepId: { ...TEXT_OR_NULL, description: "The planned step it was for. Null: the function itself." },
    attempt: { ...INTEGER, description: "Counted from 0." },
    outcome: { type: "string", enum: ["ok", "error"] },
    startedAt: INSTANT,
    endedAt: INSTANT,
    httpStatus: { type: ["integer", "null"], description: "Null if there was no response; see the failed attempt." },
    request: {
      ...shape({ method: TEXT, path: TEXT, steps: listOf(TEXT) }),
      description: "The target of the call, and the ids of the steps whose results it included. The event is that of the run.",
    },
    answer: {
      anyOf: [shape({ body: TEXT, length: INTEGER }), { type: "null" }],
      description: "The first 4,000 characters of the body as text, and how many it had.",
    },
    logs: {
      description:
        "What the function wrote through its logger during the call, up to 100 lines. Null if nothing, or if its SDK does not send it.",
      anyOf: [shape({ lines: listOf(LOG_LINE), dropped: { ...INTEGER, description: "How many more lines it wrote." } }), { type: "null" }],
    },
  },
  { title: "Call" },
);

const RERUN = {
  description: "The last run that repeats it; null if it was not rerun.",
  anyOf: [shape({ id: TEXT, status: { type: "string", enum: RUN_STATUSES } }), { type: "null" }],
} as const;

const WAITING = {
  description:
    "Why the app of an unfinished run is not being called; if there are several reasons, the first. Null if it is being called, or if the run is in a sleep or a wait of its own.",
  anyOf: [
    shape({
      reason: { type: "string", enum: WAITING_REASONS },
      until: { ...INSTANT_OR_NULL, description: "When the reason ends, if that is known." },
      runId: { ...TEXT_OR_NULL, description: "The run of the same key that blocks it." },
    }),
    { type: "null" },
  ],
} as const;

export const RUN_DETAILS = shape(
  {
    ...SUMMARY,
    traceUrl: TRACE_URL,
    rerun: RERUN,
    invokedBy: { ...TEXT_OR_NULL, description: "The run that invoked it." },
    cancelledBy: { ...TEXT_OR_NULL, description: "The id of the event that cancelled it." },
    waiting: WAITING,
    output: JSON_VALUE,
    steps: listOf(STEP),
    attempts: listOf(ATTEMPT),
    calls: listOf(CALL),
  },
  { title: "RunDetails" },
);
