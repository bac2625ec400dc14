/** REST: figures of one function over time, and which functions have runs that wait for an event. */

import type { FunctionNo } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { functionFigures } from "../../observe/function-figures.ts";
import type { Environment, StoreViews } from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { readInstant } from "../instant.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, INSTANT, INTEGER, listOf, shape, TEXT } from "../route-facts.ts";
import { INTERVALS, type Interval, POINTS_MAX } from "../stats-intervals.ts";

export interface FunctionStatsRouteParts {
  access: AccessRules;
  views: Pick<StoreViews, "runTimings" | "waitCountByFunction">;
  runs: {
    functionName(no: FunctionNo): { id: string; name: string };
    functionNos(environment: Environment, functionId: string): readonly FunctionNo[];
  };
  now(): number;
}

const DEFAULT_POINTS = 60;
/** Figures are computed from this many runs at most, the newest. */
const RUNS_MAX = 10_000;
const WAITS_MAX = 10_000;

export const PERCENTILES = { anyOf: [shape({ p50: INTEGER, p95: INTEGER }), { type: "null" }] } as const;

const STATS = shape(
  {
    interval: { type: "string", enum: Object.keys(INTERVALS) },
    runs: { ...INTEGER, description: `How many runs the figures are based on. ${RUNS_MAX}: older runs are left out.` },
    points: {
      ...listOf(
        shape({
          at: INSTANT,
          created: INTEGER,
          completed: INTEGER,
          failed: INTEGER,
          cancelled: INTEGER,
          durationMs: { ...PERCENTILES, description: "From the first call to the end." },
          queueDelayMs: { ...PERCENTILES, description: "From the creation to the first call." },
        }),
      ),
      description: "One for every interval, or every few of them, oldest first. Runs count where they were created.",
    },
  },
  { title: "FunctionStats" },
);

const STATS_SCHEMA = {
  summary: "Get figures of a function over time",
  querystring: closed({
    from: { type: "string", description: "Created at or after: ISO 8601 or milliseconds; default: 60 intervals before `to`." },
    to: { type: "string", description: "Created before: ISO 8601 or milliseconds; default: now." },
    interval: { type: "string", enum: Object.keys(INTERVALS), default: "minute" },
    points: {
      type: "integer",
      minimum: 1,
      maximum: POINTS_MAX,
      default: POINTS_MAX,
      description: "At most this many points. If there are more intervals, each point covers several of them.",
    },
  }),
  response: { 200: dataOf(STATS) },
  errors: ["function_not_found"],
} as const;

const WAITING_SCHEMA = {
  summary: "List the functions that wait for an event",
  description: `Functions with runs in which a step waits for an event of this name. At most ${WAITS_MAX} waits are counted.`,
  querystring: closed({}),
  response: { 200: dataOf(listOf(shape({ function: shape({ id: TEXT, name: TEXT }), waits: INTEGER }, { title: "WaitingFunction" }))) },
};

export function registerFunctionStatsRoute(app: FastifyInstance, { access, views, runs, now }: FunctionStatsRouteParts): void {
  app.get<{ Params: { id: string }; Querystring: { from?: string; to?: string; interval: Interval; points: number } }>(
    "/functions/:id/stats",
    { config: { about: "environment" }, schema: STATS_SCHEMA },
    async (request) => {
      const environment = environmentOf(access, request);
      const { id } = request.params;
      const { interval, points: pointsMax, ...given } = request.query;
      const functionNos = runs.functionNos(environment, id);
      if (functionNos.length === 0) {
        throw new RestRefusal("function_not_found", `There is no function ${id} in the environment "${environment.name}".`);
      }
      const intervalMs = INTERVALS[interval];
      const to = given.to === undefined ? now() + 1 : readInstant("to", given.to);
      const earliest = given.from === undefined ? to - DEFAULT_POINTS * intervalMs : readInstant("from", given.from);
      const from = earliest - (earliest % intervalMs);
      if ((to - from) / intervalMs > POINTS_MAX)
        throw invalid("interval", `would give more than ${POINTS_MAX} points; choose a longer one`);
      const timings = await views.runTimings({ environmentId: environment.id, functionNos, from, to, limit: RUNS_MAX });
      const intervalsPerPoint = Math.max(1, Math.ceil((to - from) / intervalMs / pointsMax));
      const points = functionFigures(timings, { from, to, intervalMs: intervalMs * intervalsPerPoint }).map(({ at, ...figures }) => ({
        at: new Date(at).toISOString(),
        ...figures,
      }));
      return { data: { interval, runs: timings.length, points } };
    },
  );

  app.get<{ Params: { name: string } }>(
    "/event-types/:name/waiting",
    { config: { about: "environment" }, schema: WAITING_SCHEMA },
    async (request) => {
      const { id: environmentId } = environmentOf(access, request);
      const found = await views.waitCountByFunction({ environmentId, eventName: request.params.name, limit: WAITS_MAX });
      const data = found.map(({ functionNo, waits }) => {
        const { id, name } = runs.functionName(functionNo);
        return { function: { id, name }, waits };
      });
      return { data };
    },
  );
}
