/**
 * REST: copies of runs. Any server shows the copy of a run; only a dev server starts one, since a copy contains results that no step
 * of this installation returned.
 *
 * The dashboard of another server sends the copy from the person's browser. A dev server refuses pages of other sites before every
 * route, so the response may be read by whoever gets that far. A body of the type `text/plain` needs no preflight request.
 */

import { jsonEntries, jsonMembers, type Refusal, type RunId } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import {
  type Environment,
  type EventSource,
  RUN_STATUSES,
  type RunDetails,
  type RunStore,
  STEP_KINDS,
  type StepKind,
} from "../../store/contract/index.ts";
import type { AuditTrail } from "../access/audit-trail.ts";
import { principalOf } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { memberText } from "../body-text.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed, readJsonBodies } from "../rest-schemas.ts";
import { dataOf, JSON_VALUE, listOf, shape, TEXT } from "../route-facts.ts";
import { findRun } from "./find-run.ts";

/** A step's result as JSON text, as the SDK receives it. */
export interface CopiedStep {
  id: string;
  name: string;
  kind: StepKind;
  value: string;
}

export interface RunCopy {
  function: string;
  /** JSON text of a list of events. */
  events: string;
  steps: readonly CopiedStep[];
  /** Who sent it. */
  source: EventSource;
}

export interface RunCopyRoutesParts {
  access: AccessRules;
  audit: AuditTrail;
  store: RunStore;
  isDev: boolean;
  runCopies: {
    /** JSON text; null if an event of the run no longer exists. */
    of(run: RunDetails): Promise<string | null>;
    start(environment: Environment, copy: RunCopy): Promise<RunId | Refusal>;
  };
}

/** Results of steps may have 32 MiB, and JSON may be written with more characters than it needs. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
const STEPS_MAX = 1_000;
const VALUE = { ...JSON_VALUE, description: 'The result, as the SDK receives it: `{"data": …}`, `{"error": …}`, an event or null.' };
const STEP = shape({ id: TEXT, name: TEXT, kind: { type: "string", enum: STEP_KINDS }, value: VALUE });

const COPY = {
  summary: "Read what a dev server needs to repeat a run",
  description: "The events, and the results of the steps before the failure. A dev server starts the copy with `POST /v1/runs`.",
  querystring: closed({}),
  response: {
    200: dataOf(
      shape(
        {
          runId: TEXT,
          status: { type: "string", enum: RUN_STATUSES },
          function: TEXT,
          error: { anyOf: [shape({ name: TEXT, message: TEXT }), { type: "null" }] },
          output: JSON_VALUE,
          events: { ...listOf({ type: "object" }), description: "As functions receive them." },
          steps: { ...listOf(STEP), description: "In the order in which they ended." },
          stoppedAt: {
            description: "The step whose error failed the run. Null: it did not fail, or the function itself threw.",
            anyOf: [STEP, { type: "null" }],
          },
        },
        { title: "RunCopy" },
      ),
    ),
  },
  errors: ["run_not_found", "run_not_repeatable"],
} as const;

const EVENT = { type: "object", required: ["name", "data"], properties: { name: TEXT, data: { type: "object" } } } as const;
const STEP_GIVEN = closed(
  {
    id: { ...TEXT, minLength: 1, maxLength: 256 },
    name: { ...TEXT, maxLength: 1_024 },
    kind: { type: "string", enum: STEP_KINDS },
    value: VALUE,
  },
  ["id", "name", "kind", "value"],
);
const START = {
  summary: "Start a copy of a run",
  description: "On dev servers only. Starts the function with these events and results: it goes on from the first step without a result.",
  querystring: closed({}),
  body: closed(
    {
      function: { ...TEXT, minLength: 1 },
      events: { ...listOf(EVENT), minItems: 1, maxItems: 1_000 },
      steps: { ...listOf(STEP_GIVEN), maxItems: STEPS_MAX },
    },
    ["function", "events", "steps"],
  ),
  response: { 201: dataOf(shape({ id: TEXT })) },
  errors: ["function_not_found", "event_invalid", "run_not_repeatable"],
} as const;

interface StartBody {
  function: string;
  steps: { id: string; name: string; kind: StepKind }[];
}

export function registerRunCopyRoutes(app: FastifyInstance, parts: RunCopyRoutesParts): void {
  app.get("/runs/:id/copy", { config: { about: "environment" }, schema: COPY }, async (request, reply) => {
    const { run } = await findRun(parts, request);
    const text = await parts.runCopies.of(run);
    if (text === null) throw new RestRefusal("run_not_repeatable", "The event of this run no longer exists.");
    reply.type("application/json");
    return `{"data":${text}}`;
  });
  if (parts.isDev) registerStart(app, parts);
}

function registerStart(app: FastifyInstance, { access, audit, runCopies }: RunCopyRoutesParts): void {
  app.register(async (scope) => {
    readJsonBodies(scope, "text/plain");
    scope.addHook("onRequest", async (_request, { raw }) => void raw.setHeader("access-control-allow-origin", "*"));
    scope.post<{ Body: StartBody }>(
      "/runs",
      { config: { about: "environment", keepsBodyText: true }, schema: START, bodyLimit: BODY_BYTES_MAX },
      async (request, reply) => {
        const environment = environmentOf(access, request);
        const { body } = request;
        const values = stepValues(memberText(body, "steps") ?? "[]");
        const copy = {
          function: body.function,
          events: memberText(body, "events") ?? "[]",
          steps: body.steps.map((step, index) => ({ ...step, value: values[index] ?? "null" })),
          source: { kind: "key", id: principalOf(request).keyId } as const,
        };
        const id = await runCopies.start(environment, copy);
        if (typeof id !== "string") throw new RestRefusal(id.code, id.message, id.details, id.retryAfterS);
        const target = { kind: "run", id, name: body.function };
        await audit.note(request, { action: "run.copied", target, environment: environment.name });
        reply.status(201);
        return { data: { id } };
      },
    );
  });
}

/** The results of a list of steps, as they were written. */
function stepValues(steps: string): string[] {
  return jsonEntries(steps).map(({ start, end }) => {
    const step = steps.slice(start, end);
    const value = jsonMembers(step).findLast(({ key }) => key === "value");
    return value ? step.slice(value.start, value.end) : "null";
  });
}
