/** The shapes of answers about transforms that were tried out. */

import { BOOLEAN, INSTANT, INTEGER, JSON_VALUE, listOf, NUMBER, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

const FAULT = shape(
  { code: TEXT, message: TEXT, line: INTEGER, column: INTEGER },
  { optional: ["line", "column"], title: "TransformFault" },
);

export const TRIAL_RESULT = shape(
  {
    ok: BOOLEAN,
    event: { type: "object", additionalProperties: true, description: "What it returned, when `ok`." },
    error: FAULT,
    logs: listOf(TEXT),
    durationMs: NUMBER,
  },
  { optional: ["event", "error"], title: "TrialResult" },
);

export const PROVIDER_TEMPLATE = shape(
  {
    id: TEXT,
    title: TEXT,
    sends: { ...TEXT, description: "What the provider sends." },
    setUp: { ...TEXT, description: "Where the webhook's URL is entered at the provider." },
    signatureHeader: { ...TEXT_OR_NULL, description: "The header that holds the provider's signature." },
    transform: { ...TEXT, description: "A transform to begin with." },
    fixtures: {
      ...listOf(shape({ title: TEXT, headers: { type: "object", additionalProperties: { type: "string" } }, query: TEXT, body: TEXT })),
      description: "Requests to try it on.",
    },
  },
  { title: "ProviderTemplate" },
);

const SIDE = shape({ event: { type: "object", additionalProperties: true }, error: FAULT }, { optional: ["event", "error"] });
const VERDICTS = ["same", "different", "now_fails", "now_works", "still_fails"];

export const BACKTEST = shape(
  {
    version: { ...INTEGER, description: "The current version that the draft was compared with." },
    summary: shape(Object.fromEntries(VERDICTS.map((verdict) => [verdict, INTEGER]))),
    requests: listOf(
      shape({
        requestId: TEXT,
        receivedAt: INSTANT,
        change: { type: "string", enum: VERDICTS },
        before: SIDE,
        after: SIDE,
        diff: listOf(shape({ path: TEXT, before: JSON_VALUE, after: JSON_VALUE }, { optional: ["before", "after"] })),
      }),
    ),
  },
  { title: "Backtest" },
);
