/** The run that the path of a request names, in the environment of the request. */

import { isEventId, type RunId } from "@inlet/protocol";
import type { FastifyRequest } from "fastify";
import type { Environment, RunDetails, RunStore } from "../../store/contract/index.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { RestRefusal } from "../rest-errors.ts";

export interface FoundRun {
  environment: Environment;
  run: RunDetails;
}

export async function findRun(
  { access, store }: { access: AccessRules; store: Pick<RunStore, "runGet"> },
  request: FastifyRequest,
): Promise<FoundRun> {
  const environment = environmentOf(access, request);
  const { id } = request.params as { id: string };
  const known = isEventId(id.toUpperCase()) ? await store.runGet({ environmentId: environment.id, id: id.toUpperCase() as RunId }) : null;
  if (!known) throw new RestRefusal("run_not_found", `There is no run ${id} in the environment "${environment.name}".`);
  return { environment, run: known };
}
