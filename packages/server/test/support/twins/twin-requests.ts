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

export function twinAction(random: Random, now: number, known: Known): TwinAction {
  const action = random.pick(ACTIONS)(random, now, known);
  const environment = random.next() < 0.1 ? { "x-service-env": random.pick(ENVIRONMENTS) } : {};
  return { ...action, headers: { ...action.headers, ...environment } };
}
