/** Requests about webhooks, and those of their providers. */

import type { Random } from "../attacks/attack-plan.ts";
import type { Answer } from "../service.ts";
import { type Known, learnList, type TwinAction } from "./twin-action.ts";
import { DEDUP_IDS, LIMITS, PATTERNS, query, TEXTS, times } from "./twin-values.ts";

export const TRANSFORMS = [
  "function transform(evt, headers, queryParams, raw) { return { name: 'hook/' + (evt.type ?? 'x'), data: { evt, raw }, id: evt.id } }",
  "export default (evt) => ({ name: 'hook/b', data: evt, ts: evt.ts })",
  "const transform = (evt) => { if (evt.fails) throw new Error('no: ' + evt.fails); console.log(evt, 'é', '\\0'); return { name: 'hook/c', data: {} } }",
  "function transform() { return [] }",
  "function (",
];

export function makeWebhook(random: Random): TwinAction {
  const body = {
    name: random.pick([...TEXTS, "Payments"]).slice(0, 50),
    transform: random.pick(TRANSFORMS),
    ...(random.next() < 0.2 && { eventNames: { mode: random.pick(["allow", "deny"]), list: [random.pick(PATTERNS)] } }),
    ...(random.next() < 0.2 && { ips: { mode: "allow", list: [random.pick(["127.0.0.1", "10.0.0.0/8", "::/0", "x"])] } }),
    ...(random.next() < 0.2 && { verify: { scheme: "github", ...(random.next() < 0.5 && { secrets: ["é secret of enough length"] }) } }),
    ...(random.next() < 0.2 && { answer: { status: 200, contentType: "text/plain", body: random.pick(TEXTS) } }),
    ...(random.next() < 0.2 && { enabled: random.next() < 0.5 }),
    ...(random.next() < 0.2 && { environment: random.pick(["branch", "production", "staging", "nothing"]) }),
  };
  return {
    method: "POST",
    path: "/v1/webhooks",
    body,
    learn: learnWebhook,
  };
}

export function learnWebhook([one, other]: readonly [Answer, Answer], known: Known): void {
  if (one.status !== 200 && one.status !== 201) return;
  known.add("webhook", [one.body.data.id, other.body.data.id]);
  known.add("token", [tokenOf(one), tokenOf(other)]);
}

function tokenOf({ body }: Answer): string {
  return body.data.url.split("/e/")[1];
}

export function postWebhook(random: Random, _: number, known: Known): TwinAction {
  const type = random.pick([
    "application/json",
    "application/json; charset=utf-8",
    "application/x-www-form-urlencoded",
    "text/plain",
    "application/xml",
  ]);
  const fields = `{"type":${JSON.stringify(random.pick(["a", "paid", "é"]))},"id":${JSON.stringify(random.pick([...DEDUP_IDS, "evt_1"]))}${random.next() < 0.2 ? ',"fails":"é"' : ""}}`;
  return {
    method: "POST",
    path: `/e/{}?a=1&a=%C3%A9${random.next() < 0.2 ? "&x-service-env=feature/cart" : ""}`,
    ids: [known.pick(random, "token")],
    text: type.includes("form") ? "type=a&type=b&id=%F0%9F%98%80" : random.next() < 0.1 ? "{" : fields,
    headers: { "content-type": type },
  };
}

export function changeWebhook(random: Random, _: number, known: Known): TwinAction {
  const ids = [known.pick(random, "webhook")];
  const kind = random.below(8);
  if (kind === 0) return { method: "DELETE", path: "/v1/webhooks/{}", ids };
  if (kind === 1) return { method: "POST", path: "/v1/webhooks/{}/rotate", ids, learn: learnWebhook };
  const body = {
    ...(random.next() < 0.3 && { name: random.pick(TEXTS) }),
    ...(random.next() < 0.4 && { transform: random.pick(TRANSFORMS) }),
    ...(random.next() < 0.3 && { eventNames: random.pick([null, { mode: "deny", list: ["hook/*"] }]) }),
    ...(random.next() < 0.3 && { enabled: random.next() < 0.7 }),
    ...(random.next() < 0.2 && { version: random.below(4) }),
  };
  return { method: "PUT", path: "/v1/webhooks/{}", ids, body };
}

export function readWebhook(random: Random, now: number, known: Known): TwinAction {
  const webhook = known.pick(random, "webhook");
  const filters = {
    ...times(random, now),
    outcome: () => random.pick(["accepted", "transform_failed", "ip_denied", "signature_invalid", "body_invalid", "handshake"]),
    q: () => random.pick(TEXTS),
    limit: () => random.pick(LIMITS),
  };
  switch (random.below(6)) {
    case 0:
      return { method: "GET", path: "/v1/webhooks/{}/requests/{}", ids: [webhook, known.pick(random, "request")] };
    case 1:
    case 2:
    case 3:
      return {
        method: "GET",
        path: `/v1/webhooks/{}/requests?${query(random, filters, 0.1)}`,
        ids: [webhook],
        learn: learnList("request"),
      };
    default:
      return {
        method: "GET",
        path: `/v1/webhooks/{}${random.pick(["", "/versions?limit=2", "/stats", "/rhythm", "/reconciliations"])}`,
        ids: [webhook],
      };
  }
}
