/** How REST shows an environment. */

import type { FastifyRequest } from "fastify";
import { API_ROLES, type Environment, type Store } from "../../store/contract/index.ts";
import { RETENTION, writeRetention } from "../retention-fields.ts";
import { INSTANT, INSTANT_OR_NULL, listOf, shape, TEXT } from "../route-facts.ts";
import { NEW_KEY } from "./key-schemas.ts";
import { callerRole } from "./principal.ts";
import { QUOTAS_SHOWN, USAGE_SHOWN } from "./quota-fields.ts";

export const RETENTION_FIELDS = { events: RETENTION, runs: RETENTION, requests: RETENTION };

const ENVIRONMENT_FIELDS = {
  role: { type: "string", enum: API_ROLES, description: "The caller's role in it." },
  name: TEXT,
  kind: { type: "string", enum: ["default", "custom", "branch"] },
  createdAt: INSTANT,
  archivedAt: INSTANT_OR_NULL,
  bodyLimitBytes: { type: ["integer", "null"] },
  retention: shape(RETENTION_FIELDS),
  quotas: QUOTAS_SHOWN,
  database: { ...TEXT, description: "The name of the database that holds its data." },
};
export const ENVIRONMENT = shape(ENVIRONMENT_FIELDS, { title: "Environment" });
export const USED_ENVIRONMENT = shape({ ...ENVIRONMENT_FIELDS, usage: USAGE_SHOWN }, { title: "UsedEnvironment" });
export const NEW_ENVIRONMENT = shape(
  {
    ...ENVIRONMENT_FIELDS,
    keys: { ...listOf(NEW_KEY), description: "For a custom environment: an event key and a signing key, which are shown only once." },
  },
  { optional: ["keys"], title: "NewEnvironment" },
);
/** Its database is the one that its requests are routed to: a move that is seen to have ended is seen here too. */
export function environmentView(
  request: FastifyRequest,
  environment: Environment,
  store: Pick<Store, "storeDatabases" | "storeDatabaseOf">,
) {
  const databaseNo = store.storeDatabaseOf(environment.id);
  return {
    role: callerRole(request, environment),
    name: environment.name,
    kind: environment.kind,
    createdAt: new Date(environment.createdAt).toISOString(),
    archivedAt: environment.archivedAt === null ? null : new Date(environment.archivedAt).toISOString(),
    bodyLimitBytes: environment.bodyBytesMax,
    retention: {
      events: writeRetention(environment.retention.eventsMs),
      runs: writeRetention(environment.retention.runsMs),
      requests: writeRetention(environment.retention.requestsMs),
    },
    quotas: environment.quotas,
    database: store.storeDatabases().find(({ no }) => no === databaseNo)?.name ?? `number ${databaseNo}`,
  };
}
