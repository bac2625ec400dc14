/** Jobs as the OpenAPI document describes them. */

import { DRILL_KINDS, JOB_KINDS, JOB_STATUSES } from "@inlet/protocol";
import { closed } from "../rest-schemas.ts";
import { BOOLEAN, INSTANT, INSTANT_OR_NULL, INTEGER, listOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

const RATE_MAX = 10_000;

const JOB_FIELDS = {
  id: TEXT,
  kind: TEXT,
  filter: { type: "object", additionalProperties: true, description: "As it was given." },
  function: { ...TEXT_OR_NULL, description: "The function it is limited to." },
  status: { type: "string", enum: JOB_STATUSES },
  total: {
    ...INTEGER,
    description:
      "The number of items when the job was created. The items of a long list are collected while the job is `queued`; until then this is the number found so far.",
  },
  done: { ...INTEGER, description: "How many items were processed." },
  failed: { ...INTEGER, description: "How many of them failed." },
  rate: { ...INTEGER, description: "Items per second, at most." },
  errors: {
    ...listOf(shape({ item: { ...TEXT_OR_NULL, description: "The id of the item." }, message: TEXT })),
    description: "The first ten.",
  },
  createdAt: INSTANT,
  startedAt: INSTANT_OR_NULL,
  endedAt: INSTANT_OR_NULL,
};

export const JOB = shape(JOB_FIELDS, { title: "Job" });

const RUNS = {
  description: "How the runs that the job started have ended so far; null for jobs that start none. Not in lists.",
  anyOf: [shape({ completed: INTEGER, failed: INTEGER, cancelled: INTEGER, unfinished: INTEGER }), { type: "null" }],
};

const DRILL_OUTCOME = shape({ status: INTEGER, events: { ...INTEGER, description: "New events." } });
const DRILL_FUNCTION = shape({
  id: TEXT,
  runs: { ...INTEGER, description: "Runs for this event so far, counting all copies of the sample sent until this request." },
  failed: { ...BOOLEAN, description: "One of these runs failed." },
});
const DRILL_ENTRY = shape(
  {
    kind: { type: "string", enum: DRILL_KINDS },
    sent: shape({
      sample: { ...TEXT, description: "The sample that the request was made from." },
      copy: { ...INTEGER, description: "Which copy of the sample this is; 1 is the first that should be accepted." },
      contentType: TEXT,
      bytes: INTEGER,
    }),
    expected: DRILL_OUTCOME,
    happened: DRILL_OUTCOME,
    ok: { ...BOOLEAN, description: "What happened is what was expected." },
    functions: { ...listOf(DRILL_FUNCTION), description: "Empty until the job has ended, and for refused requests." },
  },
  { title: "DrillEntry" },
);
const REPORT = {
  description: "For `webhooks.drill`: one entry for each request sent so far. Null for other kinds. Not in lists.",
  anyOf: [listOf(DRILL_ENTRY), { type: "null" }],
};

export const JOB_DETAILS = shape({ ...JOB_FIELDS, runs: RUNS, report: REPORT }, { title: "JobDetails" });

export const JOB_PREVIEW = shape(
  { total: INTEGER, samples: listOf({ type: "object", additionalProperties: true }) },
  { title: "JobPreview" },
);

export const CREATE_BODY = closed(
  {
    kind: { type: "string", description: `One of ${JOB_KINDS.map((kind) => `\`${kind}\``).join(", ")}.` },
    filter: {
      type: "object",
      additionalProperties: true,
      description: "The parameters of the list of events, runs, or a webhook's requests (with `webhook`, its id).",
    },
    all: { type: "boolean", description: "Required with an empty filter: process every item." },
    function: { type: "string", minLength: 1, description: "For `events.replay`: only this function." },
    rate: { type: "integer", minimum: 1, maximum: RATE_MAX, description: "Items per second; default: `--job-rate`." },
    dryRun: { type: "boolean", description: "Only count, and show some." },
  },
  ["kind", "filter"],
);
