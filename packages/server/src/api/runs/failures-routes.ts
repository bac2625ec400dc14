/** REST: failed runs, grouped by function and the pattern of their error. */

import type { FastifyInstance } from "fastify";
import { iso } from "../../observe/run-view.ts";
import type { RunStore } from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { readInstant } from "../instant.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { INSTANT, INTEGER, listOf, pageOf, shape, TEXT } from "../route-facts.ts";
import type { RunsRoutesParts } from "./runs-routes.ts";

export interface FailuresRoutesParts {
  access: AccessRules;
  store: RunStore;
  runs: Pick<RunsRoutesParts["runs"], "functionName" | "functionNos">;
  now(): number;
}

const DAY_MS = 86_400_000;

const FAILURE = shape(
  {
    function: shape({ id: TEXT, name: TEXT }),
    error: {
      ...shape({
        ...{ name: TEXT, message: TEXT },
        pattern: {
          ...TEXT,
          description: "Name and message with `*` for ids and numbers. `GET /v1/runs?errorPattern=` and jobs select by it.",
        },
      }),
      description: "Of the newest run, with the pattern that all runs of the group share.",
    },
    count: { ...INTEGER, description: "How many runs failed with this error." },
    first: { ...INSTANT, description: "When the first of them failed." },
    last: { ...INSTANT, description: "When the last of them failed." },
    runs: { ...listOf(TEXT), description: "The ids of up to five of them, newest first." },
  },
  { title: "Failure" },
);

const GROUPS_MAX = 100;

const LIST = {
  summary: "List failures by function and error",
  description: "The 100 most frequent, the most frequent first. Of the newest 200,000 failed runs in the range.",
  querystring: closed({
    ...PAGE_PARAMETERS,
    function: { type: "string", minLength: 1, description: "Runs of the function with this id." },
    from: { type: "string", description: "Runs created at or after: ISO 8601 or milliseconds; default: a day ago." },
    to: { type: "string", description: "Runs created before: ISO 8601 or milliseconds." },
  }),
  response: { 200: pageOf(FAILURE) },
};

export function registerFailuresRoutes(app: FastifyInstance, { access, store, runs, now }: FailuresRoutesParts): void {
  app.get<{ Querystring: PageQuery & { function?: string; from?: string; to?: string } }>(
    "/failures",
    { schema: LIST },
    async (request) => {
      const environment = environmentOf(access, request);
      const { function: functionId, from, to } = request.query;
      const groups = await store.runFailures({
        ...{ environmentId: environment.id, limit: GROUPS_MAX, from: from === undefined ? now() - DAY_MS : readInstant("from", from) },
        ...(to !== undefined && { to: readInstant("to", to) }),
        ...(functionId !== undefined && { functionNos: runs.functionNos(environment, functionId) }),
      });
      const { items, next } = cutPage([...groups.entries()], ([index]) => ({ rank: -index }), request.query);
      const data = items.map(([, { functionNo, name, message, pattern, count, firstAt, lastAt, runIds }]) => {
        const { id, name: functionName } = runs.functionName(functionNo);
        const times = { first: iso(firstAt), last: iso(lastAt) };
        return { function: { id, name: functionName }, error: { name, message, pattern }, count, ...times, runs: runIds };
      });
      return { data, page: { next } };
    },
  );
}
