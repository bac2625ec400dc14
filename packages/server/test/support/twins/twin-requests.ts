/** Random requests to services that are twins, of what users do: with ids that exist, in any order. */

import type { Random } from "../attacks/attack-plan.ts";
import type { Known, TwinAction } from "./twin-action.ts";
import { eventTypes, listEvents, others, sendEvents } from "./twin-events.ts";
import { approvals, jobs, listRuns, readJobs, runs } from "./twin-runs.ts";
import { alerts, environments, keys } from "./twin-settings.ts";
import { ENVIRONMENTS } from "./twin-values.ts";
import { changeWebhook, makeWebhook, postWebhook, readWebhook } from "./twin-webhooks.ts";

/** As often as they are named. */
const ACTIONS = [
  sendEvents,
  sendEvents,
  sendEvents,
  listEvents,
  listEvents,
  listEvents,
  listRuns,
  listRuns,
  makeWebhook,
  postWebhook,
  postWebhook,
  postWebhook,
  changeWebhook,
  readWebhook,
  readWebhook,
  environments,
  keys,
  eventTypes,
  alerts,
  approvals,
  jobs,
  readJobs,
  runs,
  runs,
  others,
  others,
];

/** Runs begin and jobs are worked on while the response to what made them is written. */
const GOES_ON = /^\/v1\/(?:jobs|runs|functions)\b/;
const PROGRESS = "status startedAt endedAt done held waiting output error failedAttempts steps attempts calls".split(" ");

export function twinAction(random: Random, now: number, known: Known): TwinAction {
  const chosen = random.pick(ACTIONS)(random, now, known);
  const action = chosen.method !== "GET" && GOES_ON.test(chosen.path) ? { ...chosen, varying: PROGRESS } : chosen;
  const environment = random.next() < 0.1 ? { "x-service-env": random.pick(ENVIRONMENTS) } : {};
  return { ...action, headers: { ...action.headers, ...environment } };
}
