/** REST: for the list of functions, the volume, failures and duration of each. */

import type { FastifyInstance } from "fastify";
import { functionFigures } from "../../observe/function-figures.ts";
import type { Environment, RunStore, StoreViews } from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { invalid } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, INTEGER, listOf, shape, TEXT } from "../route-facts.ts";
import { PERCENTILES } from "./function-stats-route.ts";

export interface FunctionFiguresRouteParts {
  access: AccessRules;
  views: Pick<StoreViews, "runTimings">;
  registry: { functions(environment: Environment): readonly { stored: { id: string; no: RunTimingsFunction } }[] };
  now(): number;
}

type RunTimingsFunction = Parameters<RunStore["runTimings"]>[0]["functionNos"][number];

const IDS_MAX = 100;
const SPAN_MS = 24 * 3_600_000;
/** Of each function, the newest. */
const RUNS_MAX = 1_000;

const FIGURES = shape(
  {
    id: { ...TEXT, description: "The id of the function." },
    created: INTEGER,
    completed: INTEGER,
    failed: INTEGER,
    cancelled: INTEGER,
    durationMs: { ...PERCENTILES, description: "From the first call to the end." },
  },
  { title: "FunctionFigures" },
);

const SCHEMA = {
  summary: "Get figures of several functions",
  description: `Covers the runs created in the last 24 hours, at most the newest ${RUNS_MAX} of each function. Unknown functions are left out.`,
  querystring: closed({ ids: { type: "string", minLength: 1, description: `Function ids, separated by commas; at most ${IDS_MAX}.` } }, [
    "ids",
  ]),
  response: { 200: dataOf(listOf(FIGURES)) },
};

export function registerFunctionFiguresRoute(app: FastifyInstance, { access, views, registry, now }: FunctionFiguresRouteParts): void {
  app.get<{ Querystring: { ids: string } }>("/functions/figures", { config: { about: "environment" }, schema: SCHEMA }, async (request) => {
    const environment = environmentOf(access, request);
    const ids = new Set(request.query.ids.split(","));
    if (ids.size > IDS_MAX) throw invalid("ids", `are ${ids.size}; at most ${IDS_MAX} are answered at a time`);
    const known = registry.functions(environment).filter(({ stored }) => ids.has(stored.id));
    const to = now() + 1;
    const span = { from: to - SPAN_MS, to };
    const data: object[] = [];
    // One after the other: the list is no reason to take more than one of the store's readers.
    for (const { stored } of known) {
      const runs = await views.runTimings({ environmentId: environment.id, functionNos: [stored.no], ...span, limit: RUNS_MAX });
      const [point] = functionFigures(runs, { ...span, intervalMs: SPAN_MS });
      if (!point) continue;
      const { created, completed, failed, cancelled, durationMs } = point;
      data.push({ id: stored.id, created, completed, failed, cancelled, durationMs });
    }
    return { data };
  });
}
