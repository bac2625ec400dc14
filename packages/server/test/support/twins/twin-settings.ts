/** Requests about environments, keys and alert rules. No rule is in force: each service evaluates them at times of its own. */

import type { Random } from "../attacks/attack-plan.ts";
import { type Known, learnOne, type TwinAction } from "./twin-action.ts";
import { ENVIRONMENTS, LIMITS, query, TEXTS } from "./twin-values.ts";

export function environments(random: Random): TwinAction {
  const name = random.pick(ENVIRONMENTS);
  const at = `/v1/environments/${encodeURIComponent(name)}`;
  switch (random.below(7)) {
    case 0:
      return { method: "POST", path: "/v1/environments", body: { name, kind: random.pick(["custom", "branch"]) } };
    case 1:
      return { method: "GET", path: `/v1/environments?limit=${random.pick(LIMITS)}` };
    case 2:
      return { method: "PUT", path: at, body: { retention: { events: random.pick(["30d", null, "1s"]) } } };
    case 3:
      return { method: "PUT", path: at, body: { quotas: { eventsPerDay: random.pick([100_000, null, 0]) } } };
    case 4:
      return { method: "POST", path: `${at}/${random.pick(["archive", "unarchive"])}` };
    default:
      return { method: "GET", path: at };
  }
}

export function keys(random: Random, _: number, known: Known): TwinAction {
  switch (random.below(5)) {
    case 0:
    case 1: {
      const kind = random.pick(["event", "api", "signing"]);
      const body = {
        kind,
        name: random.pick(TEXTS),
        ...(kind === "api" && {
          role: random.pick(["viewer", "operator", "admin", "king"]),
          ...(random.next() < 0.3 && { environments: ["staging", "feature-*"] }),
        }),
        ...(kind === "event" && random.next() < 0.3 && { eventNames: { mode: "allow", list: ["shop/*"] } }),
      };
      return {
        method: "POST",
        path: "/v1/keys",
        body,
        learn: learnOne("key"),
      };
    }
    case 2:
      return { method: "DELETE", path: "/v1/keys/{}", ids: [known.pick(random, "key")] };
    case 3:
      return { method: "PUT", path: "/v1/keys/{}", ids: [known.pick(random, "key")], body: { name: random.pick(TEXTS) } };
    default:
      return {
        method: "GET",
        path: `/v1/keys?${query(random, { kind: () => random.pick(["event", "api", "signing"]), limit: () => random.pick(LIMITS) })}`,
      };
  }
}

export function alerts(random: Random, _: number, known: Known): TwinAction {
  const ids = [known.pick(random, "alertRule")];
  const rule = random.pick([
    { kind: "failure_rate", threshold: 50, windowSeconds: 60 },
    { kind: "queue_age", threshold: 1, windowSeconds: 3_600 },
    { kind: "silence", event: "shop/*", windowSeconds: 60 },
    { kind: "missed_webhooks", threshold: 0, windowSeconds: 60 },
    { kind: "silence", threshold: 1 },
  ]);
  const body = { name: random.pick(TEXTS), ...rule, enabled: false };
  switch (random.below(5)) {
    case 0:
    case 1:
      return {
        method: "POST",
        path: "/v1/alert-rules",
        body,
        learn: learnOne("alertRule"),
      };
    case 2:
      return { method: "PUT", path: "/v1/alert-rules/{}", ids, body: { name: random.pick(TEXTS) } };
    case 3:
      return { method: random.pick(["GET", "DELETE"]), path: "/v1/alert-rules/{}", ids };
    default:
      return { method: "GET", path: "/v1/alert-rules" };
  }
}
