/** REST: for lists of events, how many runs each started, by status. */

import { type EventId, isEventId } from "@inlet/protocol";
import type { FastifyInstance } from "fastify";
import { RUN_STATUSES, type StoreViews } from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { invalid } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf, INTEGER, listOf, shape, TEXT } from "../route-facts.ts";

export interface RunCountsRouteParts {
  access: AccessRules;
  views: Pick<StoreViews, "runCountByEvent">;
}

const IDS_MAX = 100;

const COUNTS = shape(Object.fromEntries(RUN_STATUSES.map((status) => [status, INTEGER])), { optional: [...RUN_STATUSES] });

const SCHEMA = {
  summary: "Count the runs of events, by status",
  description: "In the order of the IDs. Events that started no run are left out.",
  querystring: closed({ ids: { type: "string", minLength: 1, description: `Event IDs, separated by commas; at most ${IDS_MAX}.` } }, [
    "ids",
  ]),
  response: { 200: dataOf(listOf(shape({ id: TEXT, runs: COUNTS }, { title: "EventRunCounts" }))) },
};

export function registerRunCountsRoute(app: FastifyInstance, { access, views }: RunCountsRouteParts): void {
  app.get<{ Querystring: { ids: string } }>("/events/run-counts", { config: { about: "environment" }, schema: SCHEMA }, async (request) => {
    const environment = environmentOf(access, request);
    const ids = request.query.ids.toUpperCase().split(",");
    if (ids.length > IDS_MAX) throw invalid("ids", `are ${ids.length}; at most ${IDS_MAX} are counted at a time`);
    const wrong = ids.find((id) => !isEventId(id));
    if (wrong !== undefined) throw invalid("ids", `has "${wrong.slice(0, 40)}", which is not an Event ID`);
    const found = await views.runCountByEvent({ environmentId: environment.id, eventIds: ids as EventId[] });
    const countsOf = new Map<string, object>(found.map(({ eventId, counts }) => [eventId, counts]));
    return { data: [...new Set(ids)].flatMap((id) => (countsOf.has(id) ? [{ id, runs: countsOf.get(id) }] : [])) };
  });
}
