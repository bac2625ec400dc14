/**
 * Providers as the presets of reconciliation ask them: what each delivered, what its API lists, page by page, and what a pass makes of it. Each
 * list begins with what was delivered.
 */

import assert from "node:assert/strict";
import type { ReconcilePreset } from "@inlet/protocol";
import type { Asked, ProviderResponse } from "./provider.ts";

export const SINCE = "2026-01-01T00:00:00.000Z";
export const UNTIL = "2026-01-02T00:00:00.000Z";
export const KEY = "a-key-of-the-provider";
export const TOKEN = "a-token-of-the-provider";

export interface PresetCase {
  options?: Record<string, unknown>;
  /** A request that arrived. */
  delivered: { body: unknown; headers?: Record<string, string> };
  /** By path and parameters; null: there is no such page. */
  answer(path: string, query: URLSearchParams, asked: Asked): ProviderResponse | null;
  /** Listed, seen, recovered, failed. */
  counts: [number, number, number, number];
  /** The names and ids of the events that were recovered. */
  recovered: string[];
}

const LATE = "2026-01-01T10:00:00Z";
const EARLY = "2026-01-01T02:00:00Z";
const BEFORE = "2025-12-31T00:00:00Z";
const basicOf = (user: string) => `Basic ${Buffer.from(`${user}:${KEY}`).toString("base64")}`;
const next = (query: string) => ({ link: `<https://elsewhere.example/stolen?${query}>; rel="next"` });

const payment = (id: string) => ({ id, create_time: LATE, event_type: "PAYMENT.CAPTURE.COMPLETED", resource: { id: `r-${id}` } });
const charge = (id: string, created_at: string) => ({ id, resource: "event", type: "charge:confirmed", created_at, data: { code: id } });
const paid = (n: number) => JSON.stringify({ type: "order.paid", timestamp: LATE, data: { n } });
const push = (n: number) => ({ object_kind: "push", ref: "refs/heads/main", n });
const mail = (id: string) => ({ event: "delivered", id, timestamp: 1_767_261_600, recipient: "alice@example.com" });
const sent = (n: number) => ({ type: "email.sent", created_at: LATE, data: { n } });
const form = (eventId: string) => ({ eventId, eventType: "FORM_RESPONSE", createdAt: LATE, data: { formId: "f" } });
const action = (id: string, type = "updateCard") => ({ id, type, date: LATE, data: { card: { id: "c" } } });
const stored = (hash: string, created_at = Date.parse(LATE) / 1_000) => ({
  scope: "store/order/created",
  store_id: "1",
  data: { type: "order", id: 7 },
  hash,
  created_at,
  producer: "stores/abc",
});
const order = (n: number, date_modified_gmt = "2026-01-01T10:00:00") => ({
  id: n,
  order_key: `wc_order_${n}`,
  status: "processing",
  date_created_gmt: "2026-01-01T10:00:00",
  date_modified_gmt,
  total: "9.00",
});
const log = (log_id: string, date = LATE) => ({ log_id, date, type: "s", description: "Successful login" });

export const PRESET_CASES: Readonly<Record<Exclude<ReconcilePreset, "stripe" | "github" | "shopify" | "square" | "workos">, PresetCase>> = {
  paypal: {
    options: { clientId: "client" },
    delivered: { body: payment("WH-1") },
    answer(path, query, { method, headers, body }) {
      if (path === "/v1/oauth2/token") {
        assert.deepEqual([method, headers.authorization, body], ["POST", basicOf("client"), "grant_type=client_credentials"]);
        return { body: { access_token: TOKEN, expires_in: 32_400 } };
      }
      assert.deepEqual([path, headers.authorization], ["/v1/notifications/webhooks-events", `Bearer ${TOKEN}`]);
      const href = "https://elsewhere.example/stolen?page_size=50&next_page_id=p2";
      if (query.get("next_page_id") === "p2") return { body: { events: [payment("WH-2")], links: [{ rel: "self", href }] } };
      assert.deepEqual([query.get("start_time"), query.get("end_time")], [SINCE, UNTIL]);
      return { body: { events: [payment("WH-1"), payment("WH-3")], links: [{ rel: "next", href }] } };
    },
    counts: [3, 1, 2, 0],
    recovered: ["paypal/payment.capture.completed WH-2", "paypal/payment.capture.completed WH-3"],
  },
  "coinbase-commerce": {
    options: { events: ["charge:confirmed"] },
    delivered: { body: { id: 1, scheduled_for: LATE, attempt_number: 1, event: charge("c1", LATE) } },
    answer(path, query, { headers }) {
      assert.deepEqual([path, headers["x-cc-api-key"]], ["/events", KEY]);
      const created = { ...charge("c9", LATE), type: "charge:created" };
      if (query.get("starting_after") === "c1")
        return { body: { data: [charge("c2", EARLY), charge("c0", BEFORE)], pagination: { next_uri: "/events?starting_after=c0" } } };
      assert.equal(query.get("starting_after"), null, "what is older is not asked for");
      return { body: { data: [created, charge("c1", LATE)], pagination: { next_uri: "https://elsewhere.example/?starting_after=c1" } } };
    },
    counts: [2, 1, 1, 0],
    recovered: ["coinbase-commerce/charge:confirmed c2"],
  },
  polar: {
    options: { endpoint: "e-1" },
    delivered: { body: paid(1), headers: { "webhook-id": "p1" } },
    answer(path, query, { headers }) {
      assert.deepEqual([path, headers.authorization, query.get("endpoint_id")], ["/v1/webhooks/deliveries", `Bearer ${KEY}`, "e-1"]);
      assert.deepEqual([query.get("start_timestamp"), query.get("end_timestamp")], [SINCE, UNTIL]);
      const delivery = (id: string, payload: string | null) => ({ id: `${id}-${Math.random()}`, webhook_event: { id, payload } });
      const pages: Record<string, object[]> = {
        "1": [delivery("p1", paid(1)), delivery("p2", paid(2)), delivery("p2", paid(2))],
        "2": [delivery("p3", null), delivery("p1", null)],
      };
      return { body: { items: pages[query.get("page") ?? ""] ?? [], pagination: { total_count: 5, max_page: 2 } } };
    },
    counts: [4, 2, 1, 1],
    recovered: ["polar/order.paid p2"],
  },
  gitlab: {
    options: { project: "acme/shop", hook: "7" },
    delivered: { body: push(1), headers: { "x-gitlab-event": "Push Hook", "x-gitlab-event-uuid": "u1" } },
    answer(path, query, { headers }) {
      assert.deepEqual([path, headers.authorization], ["/api/v4/projects/acme%2Fshop/hooks/7/events", `Bearer ${KEY}`]);
      const event = (id: string, request_data: object, created_at?: string) => ({
        id: 1,
        created_at,
        request_data,
        response_status: "500",
        request_headers: { "X-Gitlab-Event": "Push Hook", "X-Gitlab-Event-UUID": id, "X-Gitlab-Token": "[REDACTED]" },
      });
      if (query.get("page") === null) return { body: [event("u1", push(1), LATE), event("u2", push(2))], headers: next("page=2&x=1") };
      assert.equal(query.get("page"), "2");
      return { body: [event("u3", { oversize: true }, EARLY), event("u0", push(0), BEFORE)], headers: next("page=3") };
    },
    counts: [3, 1, 1, 1],
    recovered: ["gitlab/push u2"],
  },
  mailgun: {
    options: { domain: "mg.example.com", events: ["delivered", "failed"] },
    delivered: { body: { signature: { timestamp: "1", token: "t", signature: "s" }, "event-data": mail("m1") } },
    answer(path, query, { headers }) {
      assert.equal(headers.authorization, basicOf("api"));
      const paging = (token: string) => ({ next: `https://elsewhere.example/v3/mg.example.com/events/${token}` });
      if (path === "/v3/mg.example.com/events") {
        assert.deepEqual([query.get("begin"), query.get("event")], [String(Date.parse(SINCE) / 1_000), "delivered OR failed"]);
        return { body: { items: [mail("m1"), mail("m2")], paging: paging("a%3D%3D") } };
      }
      if (path === "/v3/mg.example.com/events/a%3D%3D") return { body: { items: [mail("m3")], paging: paging("b") } };
      return path === "/v3/mg.example.com/events/b" ? { body: { items: [], paging: paging("b") } } : null;
    },
    counts: [3, 1, 2, 0],
    recovered: ["mailgun/delivered m2", "mailgun/delivered m3"],
  },
  resend: {
    options: { hook: "w-1" },
    delivered: { body: sent(1), headers: { "svix-id": "msg_1" } },
    answer(path, query, { headers }) {
      assert.equal(headers.authorization, `Bearer ${KEY}`);
      if (path === "/webhooks/w-1/events/msg_2") return { body: { object: "webhook_event", id: "msg_2", payload: sent(2) } };
      if (path !== "/webhooks/w-1/events") return null;
      if (query.get("after") === null) return { body: { has_more: true, data: [{ id: "msg_1", created_at: LATE }] } };
      assert.equal(query.get("after"), "msg_1");
      return { body: { has_more: true, data: ["msg_2", "msg_0"].map((id, n) => ({ id, created_at: n === 0 ? EARLY : BEFORE })) } };
    },
    counts: [2, 1, 1, 0],
    recovered: ["resend/email.sent msg_2"],
  },
  tally: {
    options: { hook: "w-1" },
    delivered: { body: form("t1") },
    answer(path, query, { headers }) {
      assert.deepEqual([path, headers.authorization], ["/webhooks/w-1/events", `Bearer ${KEY}`]);
      const event = (id: string, createdAt: string) => ({ id: `e-${id}`, createdAt, payload: form(id), deliveryStatus: "FAILED" });
      const pages: Record<string, object[]> = {
        "1": [event("t0", BEFORE), event("t1", LATE)],
        "2": [event("t2", EARLY), event("t2", LATE)],
      };
      return { body: { events: pages[query.get("page") ?? ""] ?? [], hasMore: query.get("page") === "1", limit: 25 } };
    },
    counts: [3, 2, 1, 0],
    recovered: ["tally/form_response t2"],
  },
  trello: {
    options: { model: "boards/b1", appKey: "k1", events: ["updateCard"] },
    delivered: { body: { model: { id: "b1", name: "Board" }, action: action("a1") } },
    answer(path, query, { headers }) {
      assert.equal(headers.authorization, `OAuth oauth_consumer_key="k1", oauth_token="${KEY}"`);
      if (path === "/1/boards/b1") return { body: { id: "b1", name: "Board" } };
      assert.deepEqual([path, query.get("filter"), query.get("since")], ["/1/boards/b1/actions", "updateCard", SINCE]);
      if (query.get("before") === "a200") return { body: [action("a201")] };
      assert.equal(query.get("before"), UNTIL);
      // A full page, of which most are of another type.
      const others = Array.from({ length: 197 }, (_, n) => action(`o${n}`, "createCard"));
      return { body: [action("a1"), ...others, action("a199"), action("a200")] };
    },
    counts: [4, 1, 3, 0],
    recovered: ["trello/updateCard a199", "trello/updateCard a200", "trello/updateCard a201"],
  },
  bigcommerce: {
    options: { store: "abc" },
    delivered: { body: stored("h1") },
    answer(path, query, { headers }) {
      assert.deepEqual([path, headers["x-auth-token"]], ["/stores/abc/v3/hooks/events", KEY]);
      const pages: Record<string, object[]> = { "1": [stored("h1"), stored("h0", 1)], "2": [stored("h2")] };
      return { body: { data: pages[query.get("page") ?? ""] ?? [], meta: { pagination: { total_pages: 2, current_page: 1 } } } };
    },
    counts: [2, 1, 1, 0],
    recovered: ["bigcommerce/order.created h2"],
  },
  woocommerce: {
    options: { site: "https://shop.example.com", consumerKey: "ck_1" },
    delivered: { body: order(1), headers: { "x-wc-webhook-topic": "order.created", "x-wc-webhook-delivery-id": "d1" } },
    answer(path, query, { headers }) {
      assert.deepEqual([path, headers.authorization, query.get("dates_are_gmt")], ["/wp-json/wc/v3/orders", basicOf("ck_1"), "true"]);
      if (query.get("modified_after") === "2026-01-01T00:00:00") return { body: [order(1), order(2, "2026-01-01T11:00:00")] };
      assert.deepEqual([query.get("after"), query.get("before")], ["2026-01-01T00:00:00", "2026-01-02T00:00:01"]);
      if (query.get("page") === null) return { body: [order(1)], headers: next("page=2") };
      return { body: [order(2, "2026-01-01T11:00:00")] };
    },
    counts: [3, 1, 2, 0],
    recovered: [
      "woocommerce/order.created order.created:wc_order_2",
      "woocommerce/order.updated order.updated:wc_order_2:2026-01-01T11:00:00:processing",
    ],
  },
  auth0: {
    options: { domain: "acme.eu.auth0.com", clientId: "client", events: ["s"] },
    delivered: { body: { log_id: "900-1", data: log("900-1") } },
    answer(path, query, { headers, body }) {
      if (path === "/oauth/token") {
        const audience = "https://acme.eu.auth0.com/api/v2/";
        assert.deepEqual(JSON.parse(body), { grant_type: "client_credentials", client_id: "client", client_secret: KEY, audience });
        return { body: { access_token: TOKEN, expires_in: 86_400 } };
      }
      assert.deepEqual([path, headers.authorization], ["/api/v2/logs", `Bearer ${TOKEN}`]);
      if (query.get("from") === "900-1") {
        const others = Array.from({ length: 98 }, (_, n) => ({ ...log(`900-o${n}`), type: "f" }));
        return { body: [log("900-2"), ...others, log("900-3")] };
      }
      if (query.get("from") === "900-3") return { body: [log("900-4"), log("900-5", "2026-01-03T00:00:00Z")] };
      assert.deepEqual([query.get("q"), query.get("per_page")], [`date:[${SINCE} TO ${UNTIL}]`, "1"]);
      return { body: [log("900-1")] };
    },
    counts: [4, 1, 3, 0],
    recovered: ["auth0/s 900-2", "auth0/s 900-3", "auth0/s 900-4"],
  },
};
