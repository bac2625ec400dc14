/** Requests about runs, functions, jobs and approvals. Jobs leave out internal events: when drift is noticed is for each service. */

import type { Random } from "../attacks/attack-plan.ts";
import { type Known, learnList, learnOne, type TwinAction } from "./twin-action.ts";
import { DEDUP_IDS, LIMITS, object, PATTERNS, query, TEXTS, times, value, WHERE } from "./twin-values.ts";

export function listRuns(random: Random, now: number): TwinAction {
  const found = query(
    random,
    {
      ...times(random, now),
      status: () => random.pick(["queued", "running", "sleeping", "waiting", "completed", "failed", "cancelled", "nothing"]),
      function: () => random.pick(["shop-plain", "shop-steps", "shop-fails", "nothing"]),
      error: () => random.pick(TEXTS),
      rerun: () => random.pick(["true", "false"]),
      where: () => random.pick(WHERE),
      limit: () => random.pick(LIMITS),
    },
    0.25,
  );
  return { method: "GET", path: `/v1/runs?${found}`, learn: learnList("run") };
}

export function runs(random: Random, _: number, known: Known): TwinAction {
  const run = known.pick(random, "run");
  const event = known.pick(random, "event");
  switch (random.below(9)) {
    case 0:
      return { method: "POST", path: "/v1/runs/{}/rerun", ids: [run] };
    case 1:
      return { method: "POST", path: "/v1/runs/{}/cancel", ids: [run] };
    case 2:
    case 3:
      return { method: "GET", path: "/v1/runs/{}", ids: [run] };
    case 4:
      return { method: "GET", path: "/v1/events/{}/runs?limit=100", ids: [event], learn: learnList("run") };
    case 5:
      return {
        method: "GET",
        path: `/v1/failures?${query(random, { limit: () => random.pick(LIMITS), q: () => random.pick(TEXTS), state: () => random.pick(["open", "acknowledged", "resolved"]) })}`,
      };
    case 6:
      return {
        method: "POST",
        path: `/v1/functions/shop-plain/${random.pick(["pause", "resume"])}`,
        ...(random.next() < 0.5 && { body: {} }),
      };
    case 7:
      return {
        method: "POST",
        path: "/v1/functions/shop-plain/invoke",
        text: `{"data":${object(random)}}`,
        headers: {
          ...(random.next() < 0.5 && {
            "idempotency-key": random.pick(DEDUP_IDS.filter((id) => /^[ -~]+$/.test(id) && id.trim() && id.length < 255)),
          }),
        },
      };
    default:
      return { method: "GET", path: `/v1/functions${random.pick(["", "/shop-steps", "/figures?ids=shop-plain"])}` };
  }
}

export function jobs(random: Random, now: number, known: Known): TwinAction {
  const kind = random.pick(["events.replay", "runs.rerun", "runs.cancel", "events.erase", "requests.replay"]);
  const [subject] = kind.split(".");
  const selected = {
    events: { name: random.pick(PATTERNS), internal: "false", ...(random.next() < 0.4 && { q: random.pick(TEXTS) }) },
    runs: { function: "shop-plain", ...(random.next() < 0.4 && { status: random.pick(["completed", "failed"]) }) },
    requests: { webhook: { $id: 0 } },
  }[subject as "events" | "runs" | "requests"];
  const filter = {
    ...selected,
    ...(random.next() < 0.3 && { from: times(random, now).from() }),
    ...(random.next() < 0.3 && subject !== "requests" && { where: random.pick(WHERE) }),
  };
  const isDry = random.next() < 0.5;
  return {
    method: "POST",
    path: "/v1/jobs",
    ids: [known.pick(random, "webhook")],
    body: { kind, filter, ...(isDry ? { dryRun: true } : { rate: 1_000 }) },
    ...(!isDry && { learn: learnOne("job") }),
  };
}

export function readJobs(random: Random, _: number, known: Known): TwinAction {
  if (random.next() < 0.5) return { method: "GET", path: "/v1/jobs?limit=100" };
  return { method: "GET", path: "/v1/jobs/{}", ids: [known.pick(random, "job")] };
}

export function approvals(random: Random, _: number, known: Known): TwinAction {
  const ids = [known.pick(random, "approval")];
  switch (random.below(5)) {
    case 0:
    case 1: {
      const text = `{"signal":${JSON.stringify(random.pick(["a", "b", "é", "a\0b"]))},"prompt":${JSON.stringify(random.pick(TEXTS))},"timeout":"1h","data":${value(random)}}`;
      return {
        method: "POST",
        path: "/v1/approvals",
        text,
        learn: learnOne("approval"),
      };
    }
    case 2:
      return {
        method: "POST",
        path: "/v1/approvals/{}",
        ids,
        body: { decision: random.pick(["approved", "rejected", "x"]), comment: random.pick(TEXTS) },
      };
    case 3:
      return { method: "GET", path: "/v1/approvals/{}", ids };
    default:
      return {
        method: "GET",
        path: `/v1/approvals?${query(random, { status: () => random.pick(["open", "approved", "rejected", "expired"]), limit: () => random.pick(LIMITS) })}`,
      };
  }
}
