/** REST: moving an environment to another database. */

import type { JobId } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Environment, EnvironmentMoveStore, Job, JobStore, Store } from "../../store/contract/index.ts";
import { JOB } from "../jobs/job-schemas.ts";
import { jobView } from "../jobs/job-view.ts";
import { RestRefusal } from "../rest-errors.ts";
import { closed } from "../rest-schemas.ts";
import { dataOf } from "../route-facts.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { type EnvironmentDirectory, findEnvironment, noteEnvironment } from "./find-environment.ts";

export interface MoveEnvironmentRouteParts {
  store: EnvironmentMoveStore & Pick<JobStore, "jobGet"> & Pick<Store, "storeDatabases" | "storeDatabaseOf">;
  directory: EnvironmentDirectory;
  audit: AuditTrail;
  newId(): string;
  now(): number;
}

type MoveRequest = { Params: { name: string }; Body: { database: string } };

const MOVE = {
  summary: "Move an environment to another database",
  description:
    "Moves everything that the environment holds, while it runs, in a job of kind `environments.move`, which is listed in the environment. At the switch, requests that write are refused with 503 and `Retry-After` for at most 5 seconds. If the job fails or is cancelled, the environment stays where it was.",
  querystring: closed({}),
  body: closed({ database: { type: "string", description: "The name of the database to move it to." } }, ["database"]),
  response: { 202: dataOf(JOB) },
  errors: ["environment_not_found", "database_not_found", "environment_moving"],
} as const;

export function registerMoveEnvironmentRoute(app: FastifyInstance, parts: MoveEnvironmentRouteParts): void {
  const config = { about: "path", unrestricted: true, idempotent: "replayed" } as const;
  app.post<MoveRequest>("/environments/:name/move", { config, schema: MOVE }, (request, reply) => moveEnvironment(parts, request, reply));
}

async function moveEnvironment(parts: MoveEnvironmentRouteParts, request: FastifyRequest<MoveRequest>, reply: FastifyReply) {
  const { store, directory, audit, now } = parts;
  const environment = findEnvironment(directory, request.params.name);
  const { database } = request.body;
  const [from, to] = databasesOf(store, environment, database);
  const [environmentId, jobId] = [environment.id, parts.newId() as JobId];
  const filter = JSON.stringify({ from, to: database });
  if (!(await store.environmentMoveInsert({ environmentId, jobId, to, filter, now: now() })))
    throw new RestRefusal("environment_moving", `The environment "${environment.name}" is being moved already.`);
  await noteEnvironment(audit, request, "move.started", environment, { from, to: database, job: jobId });
  reply.code(202);
  return { data: jobView((await store.jobGet({ environmentId, id: jobId })) as Job) };
}

/** The name of the database that holds it, and the number of the one that it is to be moved to. */
function databasesOf(
  store: Pick<Store, "storeDatabases" | "storeDatabaseOf">,
  { id, name, kind }: Environment,
  database: string,
): [string, number] {
  const [databases, databaseNo] = [store.storeDatabases(), store.storeDatabaseOf(id)];
  const to = databases.find((one) => one.name === database);
  if (!to) throw new RestRefusal("database_not_found", `There is no database "${database}".`);
  // A request to a webhook of all branches is recorded in the transaction of its events.
  if (kind === "branch") throw cannotMove("Branch environments cannot be moved: they stay with the webhooks they share.");
  if (to.no === databaseNo) throw cannotMove(`"${name}" is already on this database: name another one.`);
  return [databases.find(({ no }) => no === databaseNo)?.name ?? String(databaseNo), to.no];
}

function cannotMove(message: string): RestRefusal {
  return new RestRefusal("request_invalid", message, [{ field: "database", message }]);
}
