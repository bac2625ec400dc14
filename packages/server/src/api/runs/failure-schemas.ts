/** Groups of failed runs as the OpenAPI document describes them. */

import { FAILURE_STATES } from "../../observe/failure-state.ts";
import { FAILURE_DECISIONS } from "../../store/contract/index.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, INSTANT, INTEGER, listOf, pageOf, shape, TEXT } from "../route-facts.ts";

const STATE = {
  type: "string",
  enum: FAILURE_STATES,
  description:
    "`resolved`: a person resolved it and it has not happened again, or all of its runs were rerun. `ignored`: until a person opens it again.",
} as const;

const FAILURE = shape(
  {
    function: shape({ id: TEXT, name: TEXT }),
    error: {
      ...shape({
        name: TEXT,
        message: TEXT,
        pattern: {
          ...TEXT,
          description: "Name and message with `*` for ids and numbers. `GET /v1/runs?errorPattern=` and jobs select by it.",
        },
      }),
      description: "The error of the newest run, with the pattern that all runs of the group share.",
    },
    count: { ...INTEGER, description: "How many runs failed with this error and were not rerun since: those that `rerun=false` selects." },
    rerun: { ...INTEGER, description: "How many runs failed with this error and were rerun since." },
    first: { ...INSTANT, description: "When the first of them failed." },
    last: { ...INSTANT, description: "When the last of them failed." },
    runs: { ...listOf(TEXT), description: "The ids of up to five of those that were not rerun, newest first; else of those that were." },
    trend: { ...listOf(INTEGER), description: "How many failed in each of 24 equal parts of the range." },
    state: STATE,
    decided: {
      description: "The state that a person set; null if nobody did.",
      anyOf: [shape({ state: { type: "string", enum: FAILURE_DECISIONS }, at: INSTANT, by: TEXT }), { type: "null" }],
    },
  },
  { title: "Failure" },
);

export const LIST = {
  summary: "List failures by function and error",
  description: "Returns the 100 most frequent, the most frequent first, among the newest 200,000 failed runs in the range.",
  querystring: closed({
    ...PAGE_PARAMETERS,
    function: { type: "string", minLength: 1, description: "Runs of the function with this id." },
    from: { type: "string", description: "Runs created at or after: ISO 8601 or milliseconds; default: a day ago." },
    to: { type: "string", description: "Runs created before: ISO 8601 or milliseconds." },
    state: { type: "string", enum: FAILURE_STATES, description: "Failures in this state; default: all." },
    q: { type: "string", minLength: 1, description: "Text in the function's name or id, or in the error; ignores case." },
  }),
  response: { 200: pageOf(FAILURE) },
};

const DECISION = {
  function: { type: "string", minLength: 1, description: "The id of the function." },
  pattern: { type: "string", minLength: 1, description: "`error.pattern` of the failure." },
  state: STATE,
} as const;

export const DECIDE = {
  summary: "Resolve, ignore or reopen a failure",
  description: "A resolved failure is open again as soon as another run of the function fails with this error.",
  querystring: closed({}),
  body: closed(DECISION, ["function", "pattern", "state"]),
  response: { 200: dataOf(shape(DECISION)) },
  errors: ["function_not_found"],
} as const;
