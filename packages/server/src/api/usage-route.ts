/** REST: what environments, keys, webhooks and functions used, by hour or day, as JSON or CSV. */

import { environmentNamed, type FunctionNo } from "@inlet/protocol";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  databaseNames,
  type Environment,
  type EventSource,
  noUsage,
  reachableOnly,
  type Store,
  type StoreViews,
  USAGE_FIGURES,
  USAGE_KINDS,
  type UsageFigure,
  type UsageHour,
  type UsageKind,
} from "../store/contract/index.ts";
import { includesEnvironment } from "./access/grants.ts";
import { environmentsAllowed, environmentUnknown } from "./access/rest-access.ts";
import { csvText } from "./csv-text.ts";
import { readInstant } from "./instant.ts";
import { invalid } from "./rest-errors.ts";
import { closed } from "./rest-schemas.ts";
import { INSTANT, INTEGER, listOf, namedEnvironment, shape, TEXT } from "./route-facts.ts";

export interface UsageRouteParts {
  directory: { environments(): Environment[] };
  store: Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  views: Pick<StoreViews, "usageList">;
  /** Figures that are added every few seconds. */
  usage: { flush(): Promise<void> };
  sourceName(source: EventSource): string;
  functionId(no: FunctionNo): string;
  now: () => number;
}

const INTERVALS = { hour: 3_600_000, day: 86_400_000 } as const;
/** The default time range, without `from`. */
const DEFAULT_INTERVALS = { hour: 24, day: 30 } as const;
const INTERVALS_MAX = 1_500;

/** How each figure is called. */
const SHOWN: Readonly<Record<UsageFigure, string>> = {
  accepted: "eventsAccepted",
  duplicates: "eventsDuplicate",
  refused: "eventsRefused",
  bytes: "bytes",
  runs: "runs",
  calls: "calls",
  transformMs: "transformMs",
};

interface UsageQuery {
  from?: string;
  to?: string;
  by: UsageKind;
  interval: keyof typeof INTERVALS;
}

type UsageRequest = FastifyRequest<{ Querystring: UsageQuery }>;
type UsageEntry = Record<string, string | number>;

const PARAMETERS = closed({
  from: {
    type: "string",
    description: "Start time, rounded down to the beginning of its interval: ISO 8601 or milliseconds; default: 30 days or 24 hours ago.",
  },
  to: { type: "string", description: "End time (exclusive): ISO 8601 or milliseconds; default: now." },
  by: { type: "string", enum: USAGE_KINDS, default: "environment" },
  interval: { type: "string", enum: Object.keys(INTERVALS), default: "day", description: "Days are UTC. Figures are kept for 400 days." },
});

const ENTRY = shape(
  {
    at: INSTANT,
    environment: TEXT,
    ...Object.fromEntries(["key", "webhook", "function"].map((by) => [by, { ...TEXT, description: `Its id, with \`by=${by}\`.` }])),
    name: TEXT,
    ...Object.fromEntries(Object.values(SHOWN).map((name) => [name, INTEGER])),
  },
  { optional: ["key", "webhook", "function"], title: "Usage" },
);

const UNREACHABLE = { ...listOf(TEXT), description: "Databases that cannot be reached now: the usage of their environments is left out." };

export function registerUsageRoute(app: FastifyInstance, parts: UsageRouteParts): void {
  const schema = {
    summary: "Get usage over time",
    description:
      "Covers all environments that the caller may see, or the one that `x-service-env` names. Intervals without usage are left out. Accepted events, duplicates, bytes and runs are exact at once; the others are shown within 10 s. With `Accept: text/csv`, the same as CSV.",
    querystring: PARAMETERS,
    headers: namedEnvironment("Environment, or `branch` for what all branch environments share; default: all that the caller may see."),
    response: { 200: shape({ data: listOf(ENTRY), page: shape({ unreachable: UNREACHABLE }) }) },
    errors: ["environment_not_found"] as const,
  };
  app.get<{ Querystring: UsageQuery }>("/usage", { config: { about: "visible", ingest: true }, schema }, async (request, reply) => {
    const { entries, unreachable } = await usageEntries(parts, request);
    if (!/\btext\/csv\b/i.test(request.headers.accept ?? "")) return { data: entries, page: { unreachable } };
    const { by } = request.query;
    const columns = ["at", ...(by === "environment" ? [] : [by]), "environment", "name", ...Object.values(SHOWN)];
    return reply.type("text/csv; charset=utf-8").send(csvText(columns, entries));
  });
}

/** One environment that is named is asked for, wherever it is. Of all of them, those that cannot be reached are left out. */
async function usageEntries(
  parts: UsageRouteParts,
  request: UsageRequest,
): Promise<{ entries: UsageEntry[]; unreachable: readonly string[] }> {
  const { by } = request.query;
  const { store } = parts;
  const visible = visibleEnvironments(parts, request);
  const asked = environmentNamed(request.headers) === null ? reachableOnly(store, visible) : visible;
  const unreachable = databaseNames(
    store,
    visible.filter((environment) => !asked.includes(environment)),
  );
  const environments = new Map(asked.map((environment) => [environment.id, environment.name]));
  const range = readRange(request.query, parts.now());
  await parts.usage.flush();
  const hours = await parts.views.usageList({ environmentIds: [...environments.keys()], kind: by, ...range });
  const entries = sumBySubject(hours.map((hour) => ({ ...hour, subject: subjectId(parts, hour) }))).map(
    ({ at, environmentId, subject, figures }) => {
      const environment = environments.get(environmentId) ?? "";
      const name = by === "environment" ? environment : parts.sourceName({ kind: by, id: subject });
      const shown = USAGE_FIGURES.map((figure) => [SHOWN[figure], figures[figure]]);
      const own = by === "environment" ? {} : { [by]: subject };
      return { at: new Date(at).toISOString(), ...own, environment, name, ...Object.fromEntries(shown) };
    },
  );
  return { entries, unreachable };
}

function readRange(query: UsageQuery, now: number): { from: number; to: number; intervalMs: number } {
  const intervalMs = INTERVALS[query.interval];
  const to = query.to === undefined ? now + 1 : readInstant("to", query.to);
  const earliest = to - (DEFAULT_INTERVALS[query.interval] - 1) * intervalMs;
  const asked = query.from === undefined ? earliest : readInstant("from", query.from);
  const from = asked - (asked % intervalMs);
  if ((to - from) / intervalMs > INTERVALS_MAX) throw invalid("from", `is more than ${INTERVALS_MAX} intervals before the end`);
  return { from, to, intervalMs };
}

function visibleEnvironments({ directory }: UsageRouteParts, request: FastifyRequest): Environment[] {
  const allowed = environmentsAllowed(request);
  const visible = directory.environments().filter((environment) => includesEnvironment(allowed, environment));
  const named = environmentNamed(request.headers);
  if (named === null) return visible;
  const chosen = visible.filter(({ name }) => name === named);
  if (chosen.length === 0) throw environmentUnknown(named);
  return chosen;
}

/** Runs of a function are counted by its number. */
function subjectId({ functionId }: UsageRouteParts, { kind, subject }: UsageHour): string {
  return kind === "function" && subject.startsWith("#") ? functionId(Number(subject.slice(1)) as FunctionNo) : subject;
}

function sumBySubject(hours: readonly UsageHour[]): UsageHour[] {
  const sums = new Map<string, UsageHour>();
  for (const hour of hours) {
    const key = `${hour.at} ${hour.environmentId} ${hour.subject}`;
    const sum = sums.get(key) ?? { ...hour, figures: noUsage() };
    for (const figure of USAGE_FIGURES) sum.figures[figure] += hour.figures[figure];
    sums.set(key, sum);
  }
  return [...sums.values()];
}
