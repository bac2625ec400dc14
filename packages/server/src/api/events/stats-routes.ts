/** REST: traffic over time, for the overview. */

import type { FastifyInstance } from "fastify";
import type { QueueHistory } from "../../observe/queue-history.ts";
import { type StoreViews, TRAFFIC_FIGURES, type TrafficFigures } from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { readInstant } from "../instant.ts";
import { invalid } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, INSTANT, INTEGER, listOf, shape } from "../route-facts.ts";
import { INTERVALS, type Interval, POINTS_MAX } from "../stats-intervals.ts";

export interface StatsRoutesParts {
  access: AccessRules;
  views: Pick<StoreViews, "trafficList">;
  traffic: { flush(): Promise<void> };
  /** Accepted events are counted shortly after they are stored. */
  eventTypeCounter: { catchUp(): Promise<void> };
  /** The length of the queue and the age of its oldest call, now and over time. */
  queueHistory: Pick<QueueHistory, "current" | "points">;
  now: () => number;
}

/** The default time range, without `from`. */
const DEFAULT_POINTS: Readonly<Record<Interval, number>> = { minute: 60, hour: 24, day: 30 };

interface StatsQuery {
  from?: string;
  to?: string;
  interval: Interval;
  points: number;
}

const PARAMETERS = closed({
  from: {
    type: "string",
    description:
      "Start time (inclusive): ISO 8601 or milliseconds; default: the last hour, day or 30 days, for the interval minute, hour or day.",
  },
  to: { type: "string", description: "End time (exclusive): ISO 8601 or milliseconds; default: now." },
  interval: {
    type: "string",
    enum: Object.keys(INTERVALS),
    default: "minute",
    description: "Minutes are kept for 8 days, hours for 400 days.",
  },
  points: {
    type: "integer",
    minimum: 1,
    maximum: POINTS_MAX,
    default: POINTS_MAX,
    description: "At most this many points. If there are more intervals, each point is the sum of several of them.",
  },
});

const STATS = shape(
  {
    interval: { type: "string", enum: Object.keys(INTERVALS) },
    points: {
      ...listOf(shape({ at: INSTANT, ...Object.fromEntries(TRAFFIC_FIGURES.map((figure) => [figure, INTEGER])) })),
      description: "One for every interval, or every few of them, oldest first, including empty ones.",
    },
    queue: shape({
      waiting: { ...INTEGER, description: "Calls of functions that are due or in progress." },
      oldestAgeMs: { ...INTEGER, description: "How long the oldest call that has not begun has waited." },
      history: {
        ...listOf(shape({ at: INSTANT, waiting: INTEGER, oldestAgeMs: INTEGER })),
        description:
          "The highest of each half minute or longer, oldest first, at most 180 points. Of the last six hours, and since the last start: it is kept in memory.",
      },
    }),
  },
  { title: "Stats" },
);

export function registerStatsRoutes(app: FastifyInstance, parts: StatsRoutesParts): void {
  const { views, traffic, queueHistory } = parts;
  const stats = { summary: "Get traffic over time", querystring: PARAMETERS, response: { 200: dataOf(STATS) } };
  app.get<{ Querystring: StatsQuery }>("/stats", { config: { about: "environment", ingest: true }, schema: stats }, async (request) => {
    const environmentId = environmentOf(parts.access, request).id;
    const { interval } = request.query;
    const intervalMs = INTERVALS[interval];
    const to = request.query.to === undefined ? parts.now() : readInstant("to", request.query.to);
    const earliest = to - (DEFAULT_POINTS[interval] - 1) * intervalMs;
    const from = floor(request.query.from === undefined ? earliest : readInstant("from", request.query.from), intervalMs);
    if ((to - from) / intervalMs > POINTS_MAX) throw invalid("interval", `would give more than ${POINTS_MAX} points; choose a longer one`);
    await Promise.all([traffic.flush(), parts.eventTypeCounter.catchUp()]);
    const counted = await views.trafficList({ environmentId, from, to, intervalMs });
    const known = new Map(counted.map(({ at, figures }) => [at, figures]));
    const intervals = Array.from({ length: Math.max(0, Math.ceil((to - from) / intervalMs)) }, (_, n) => {
      const at = from + n * intervalMs;
      return { at: new Date(at).toISOString(), ...(known.get(at) ?? NOTHING) };
    });
    const points = sumNeighbours(intervals, request.query.points);
    const queue = await queueHistory.current(environmentId);
    const history = queueHistory.points(environmentId, from, to).map(({ at, ...point }) => ({ at: new Date(at).toISOString(), ...point }));
    return { data: { interval, points, queue: { ...queue, history } } };
  });
}

type Point = TrafficFigures & { at: string };

function sumNeighbours(intervals: readonly Point[], pointsMax: number): Point[] {
  const size = Math.ceil(intervals.length / pointsMax);
  if (size <= 1) return [...intervals];
  return Array.from({ length: Math.ceil(intervals.length / size) }, (_, n) => intervals.slice(n * size, (n + 1) * size).reduce(add));
}

function add(sum: Point, next: Point): Point {
  const figures = TRAFFIC_FIGURES.map((figure) => [figure, sum[figure] + next[figure]]);
  return { at: sum.at, ...(Object.fromEntries(figures) as TrafficFigures) };
}

const NOTHING = Object.fromEntries(TRAFFIC_FIGURES.map((figure) => [figure, 0])) as TrafficFigures;

function floor(instant: number, intervalMs: number): number {
  return instant - (instant % intervalMs);
}
