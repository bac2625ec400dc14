/** The response schemas of transform tests. */

import { BOOLEAN, INSTANT, INTEGER, JSON_VALUE, listOf, NUMBER, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";

const FAULT = shape(
  { code: TEXT, message: TEXT, line: INTEGER, column: INTEGER },
  { optional: ["line", "column"], title: "TransformFault" },
);

const HANDSHAKE = {
  ...shape({ status: INTEGER, contentType: TEXT, headers: listOf(TEXT), body: TEXT }),
  description: "The response of the webhook's handshake to this request. There is then no event.",
};
const VERIFICATION = {
  ...shape(
    {
      ok: BOOLEAN,
      reason: TEXT,
      header: { ...TEXT, description: "The header that is wrong or missing." },
      character: { ...INTEGER, description: "The position in the value of that header, counted from 1." },
      byte: { ...INTEGER, description: "The first byte of the body that differs from the signed one, if that could be determined." },
    },
    { optional: ["reason", "header", "character", "byte"] },
  ),
  description: "The result of the verification, if the webhook has one.",
};

export const TRIAL_RESULT = shape(
  {
    ok: BOOLEAN,
    event: { type: "object", additionalProperties: true, description: "What it returned, when `ok`." },
    handshake: HANDSHAKE,
    verification: VERIFICATION,
    error: FAULT,
    logs: listOf(TEXT),
    durationMs: NUMBER,
  },
  { optional: ["event", "handshake", "verification", "error"], title: "TrialResult" },
);

const OBJECT_OR_NULL = { type: ["object", "null"], additionalProperties: true } as const;

export const PROVIDER_TEMPLATE = shape(
  {
    id: TEXT,
    title: TEXT,
    sends: { ...TEXT, description: "What the provider sends." },
    setUp: { ...TEXT, description: "Where the webhook's URL is entered at the provider." },
    category: TEXT,
    signatureHeader: { ...TEXT_OR_NULL, description: "The header with the provider's signature or credentials." },
    verify: { ...OBJECT_OR_NULL, description: "`verify` of a webhook for it, without the secret; null: no scheme fits." },
    secretFrom: { ...TEXT_OR_NULL, description: "Where the secret is found at the provider; without `verify` it is one of the handshake." },
    handshake: { ...OBJECT_OR_NULL, description: "`handshake` of a webhook for it." },
    answer: { ...OBJECT_OR_NULL, description: "`answer` of a webhook for it; null: the provider takes any response." },
    note: TEXT_OR_NULL,
    retries: { ...TEXT_OR_NULL, description: "When the provider sends a failed request again; null: not documented." },
    timeout: { ...TEXT_OR_NULL, description: "How long the provider waits for a response; null: not documented." },
    documentation: TEXT_OR_NULL,
    reconcile: { ...TEXT_OR_NULL, description: "The preset of `reconcile` for it; null: none is offered." },
    source: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "The public page that each fact was checked against, by the fact's name here. A fact without one was not checked.",
    },
    transform: { ...TEXT, description: "A transform to begin with." },
    fixtures: {
      ...listOf(shape({ title: TEXT, headers: { type: "object", additionalProperties: { type: "string" } }, query: TEXT, body: TEXT })),
      description: "Requests to try it on.",
    },
  },
  { title: "ProviderTemplate" },
);

const SIDE = shape(
  { event: { type: "object", additionalProperties: true }, handshake: HANDSHAKE, verification: VERIFICATION, error: FAULT },
  { optional: ["event", "handshake", "verification", "error"] },
);
const CHANGES = ["same", "different", "now_fails", "now_works", "still_fails"];

export const BACKTEST = shape(
  {
    version: { ...INTEGER, description: "The current version that the draft was compared with." },
    summary: shape(Object.fromEntries(CHANGES.map((change) => [change, INTEGER]))),
    requests: listOf(
      shape({
        requestId: TEXT,
        receivedAt: INSTANT,
        change: { type: "string", enum: CHANGES },
        before: SIDE,
        after: SIDE,
        diff: listOf(shape({ path: TEXT, before: JSON_VALUE, after: JSON_VALUE }, { optional: ["before", "after"] })),
      }),
    ),
  },
  { title: "Backtest" },
);
