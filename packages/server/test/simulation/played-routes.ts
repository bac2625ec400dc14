/**
 * Every route that writes, as the REST reference documents it: by which deeds the simulation does the same, at the functions behind the route,
 * or why it does not. A test holds this list against the reference.
 */

import type { DeedKind } from "./deeds/deeds.ts";

type Played = { by: DeedKind | "moves" | "release-holds" } | { not: string };

const NOTHING_RUNS = "it changes nothing that runs or events depend on";
const TESTED = "it stores nothing: it only shows what would happen";
const PEOPLE = "it is about people who sign in, whom the simulation does not have";

export const PLAYED_ROUTES: Readonly<Record<string, Played>> = {
  "POST /v1/events": { by: "events" },
  "POST /v1/environments": { by: "hooks" },
  "PUT /v1/environments/{name}": { by: "quotas" },
  "POST /v1/environments/{name}/archive": { by: "archives" },
  "POST /v1/environments/{name}/unarchive": { by: "archives" },
  "POST /v1/environments/{name}/move": { by: "moves" },
  "POST /v1/databases": { by: "moves" },
  "POST /v1/keys": { by: "rotations" },
  "PUT /v1/keys/{id}": { not: "what a key allows is decided for each request by itself; tests of keys cover it" },
  "DELETE /v1/keys/{id}": { by: "rotations" },
  "POST /v1/functions/{id}/pause": { by: "pauses" },
  "POST /v1/functions/{id}/resume": { by: "pauses" },
  "PUT /v1/functions/{id}/limits": { by: "functionLimits" },
  "POST /v1/functions/{id}/invoke": { by: "invocations" },
  "POST /v1/apps": { not: "apps register by themselves in every play, which is what this asks them to do" },
  "DELETE /v1/apps/{id}": { by: "schedules" },
  "PUT /v1/event-types/{name}": { by: "schemas" },
  "POST /v1/event-types/{name}/check": { not: TESTED },
  "POST /v1/runs/{id}/cancel": { by: "jobs" },
  "POST /v1/runs/{id}/steps/{stepId}/wake": { by: "wakes" },
  "POST /v1/runs/{id}/rerun": { by: "reruns" },
  "POST /v1/runs/{id}/release": { by: "release-holds" },
  "POST /v1/holds/{id}/release": { by: "release-holds" },
  "POST /v1/jobs": { by: "jobs" },
  "POST /v1/jobs/{id}/cancel": { by: "jobs" },
  "POST /v1/alert-rules": { by: "alerts" },
  "PUT /v1/alert-rules/{id}": { by: "alerts" },
  "DELETE /v1/alert-rules/{id}": { by: "alerts" },
  "POST /v1/webhooks": { by: "hooks" },
  "PUT /v1/webhooks/{id}": { by: "hooks" },
  "DELETE /v1/webhooks/{id}": { not: "its requests are refused from then on; tests of webhooks cover it" },
  "POST /v1/webhooks/{id}/rotate": { by: "hooks" },
  "POST /v1/webhooks/{id}/reconcile": { by: "hooks" },
  "POST /v1/webhooks/{id}/requests/{requestId}/replay": { by: "hooks" },
  "POST /v1/webhooks/{id}/drill": { by: "drills" },
  "POST /v1/webhooks/{id}/test": { not: TESTED },
  "POST /v1/webhooks/{id}/backtest": { not: TESTED },
  "POST /v1/signals": { by: "signals" },
  "POST /v1/approvals": { by: "approvals" },
  "POST /v1/approvals/{id}": { by: "decisions" },
  "PUT /v1/failures": { not: NOTHING_RUNS },
  "PUT /v1/saved-filters": { not: NOTHING_RUNS },
  "DELETE /v1/saved-filters/{list}/{name}": { not: NOTHING_RUNS },
  "POST /v1/transforms/test": { not: TESTED },
  "POST /v1/session": { not: PEOPLE },
  "DELETE /v1/session": { not: PEOPLE },
  "DELETE /v1/sessions/{id}": { not: PEOPLE },
};
