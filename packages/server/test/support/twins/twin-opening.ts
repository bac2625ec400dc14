/** What a comparison begins with: one of everything, so that the random requests after it have something to read and to change. */

import { type Known, learnList, learnOne, type TwinAction } from "./twin-action.ts";
import { learnEvents } from "./twin-events.ts";
import { learnWebhook, TRANSFORMS } from "./twin-webhooks.ts";

export const OPENING: readonly ((known: Known) => TwinAction)[] = [
  () => ({ method: "POST", path: "/e/test-event-key", text: '{"name":"shop/order","data":{"n":1}}', learn: learnEvents }),
  () => ({ method: "GET", path: "/v1/runs", learn: learnList("run") }),
  () => ({ method: "POST", path: "/v1/webhooks", body: { name: "Payments", transform: TRANSFORMS[0] }, learn: learnWebhook }),
  (known) => ({ method: "POST", path: "/e/{}", ids: [known.first("token")], text: '{"type":"paid"}' }),
  (known) => ({ method: "GET", path: "/v1/webhooks/{}/requests", ids: [known.first("webhook")], learn: learnList("request") }),
  () => ({ method: "POST", path: "/v1/keys", body: { kind: "event", name: "shop" }, learn: learnOne("key") }),
  () => ({
    method: "POST",
    path: "/v1/alert-rules",
    body: { name: "failures", kind: "failure_rate", threshold: 50, windowSeconds: 60, enabled: false },
    learn: learnOne("alertRule"),
  }),
  () => ({ method: "POST", path: "/v1/approvals", body: { signal: "a", prompt: "Ship?", timeout: "1h" }, learn: learnOne("approval") }),
  () => ({
    method: "POST",
    path: "/v1/jobs",
    body: { kind: "runs.rerun", filter: { function: "shop-plain" }, rate: 1_000 },
    learn: learnOne("job"),
    varying: ["status", "startedAt", "endedAt", "done"],
  }),
];
