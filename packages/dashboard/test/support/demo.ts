/** A service with data for every page, and the list of pages. For the accessibility scan and the screenshots. */

import { call, type ServiceClient } from "../../../server/test/support/service.ts";
import { startShopApp } from "./app.ts";
import { until } from "./until.ts";

export interface DemoPage {
  name: string;
  path: string;
  /** A text that is visible when the page is complete. */
  ready: string | RegExp;
}

export interface Demo {
  pages: DemoPage[];
  stop(): Promise<void>;
}

/** As tools make them: a name without a place to break. */
const LONG_BRANCH = "feature/averylongnamewithoutaspacethatatoolmadeforthebranchofonechange";
const JSON_TYPE = { "content-type": "application/json" };

export async function startDemo(service: ServiceClient): Promise<Demo> {
  const app = await startShopApp(service.url);
  app.open();
  await service.rest("POST", "/apps", { body: { url: app.url } });
  for (const [name, kind] of [
    ["staging", "custom"],
    ["feature/cart", "branch"],
    ["fix/login", "branch"],
    [LONG_BRANCH, "branch"],
  ])
    await service.rest("POST", "/environments", { body: { name, kind } });
  await service.rest("POST", "/keys", { body: { kind: "event", name: "Checkout", eventNames: { mode: "allow", list: ["shop/*"] } } });
  await service.rest("POST", "/keys", { body: { kind: "api", name: "Deploy script" } });
  const { stripe, shared } = await makeWebhooks(service);
  const eventId = await sendEvents(service);
  const run = await until("the run to end", async () => {
    const { body } = await service.rest("GET", `/events/${eventId}/runs`);
    return body.data.find(({ status }: { status: string }) => status === "completed");
  });
  await service.send({ name: "shop/cart.left", data: { cart: "c_82" } });
  await service.send({ name: "shop/month.ended", data: { month: "2026-10" } });
  await service.send({ name: "shop/refund.asked", data: { orderId: 4702, customer: "Ada Lovelace", total: 42.5 } });
  const jobId = await rerunFailures(service);
  await makeAlertRules(service);
  const deliveries = [{ customer: "ada" }, { customer: "ada", address: "12 St James's Square" }];
  await service.send(deliveries.map((data) => ({ name: "shop/delivery.due", data })));
  return { pages: pagesOf({ eventId, runId: run.id, jobId, stripe, shared }), stop: () => app.stop() };
}

/** A job that has ended. Returns its id. */
async function rerunFailures(service: ServiceClient): Promise<string> {
  await until("a failure", async () => (await service.rest("GET", "/runs?status=failed")).body.data.length > 0);
  const { body } = await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter: { status: "failed" } } });
  await until("the job to end", async () => (await service.rest("GET", `/jobs/${body.data.id}`)).body.data.endedAt !== null);
  return body.data.id;
}

/** Rules whose alerts are not raised: a banner would come up while pages are looked at. */
async function makeAlertRules(service: ServiceClient): Promise<void> {
  const quietHours = { from: "22:00", to: "06:00" };
  const orders = { name: "Orders fail", kind: "failure_rate", function: "shop-fulfil", threshold: 20 };
  const queue = { name: "Queue stands still", kind: "queue_age", threshold: 600, quietHours };
  for (const body of [orders, queue]) await service.rest("POST", "/alert-rules", { body });
}

async function makeWebhooks(service: ServiceClient) {
  const { data: providers } = (await service.rest("GET", "/transforms/providers?limit=100")).body;
  const made: Record<string, { id: string; url: string }> = {};
  for (const { id, title, transform, fixtures } of providers.filter(({ id }: { id: string }) =>
    ["stripe", "github", "shopify"].includes(id),
  )) {
    made[id] = (await service.rest("POST", "/webhooks", { body: { name: title, transform } })).body.data;
    if (id === "stripe") await call(made[id]?.url as string, { method: "POST", headers: JSON_TYPE, body: '{"type": "broken"' });
    for (const { headers, body } of fixtures) await call(made[id]?.url as string, { method: "POST", headers, body });
  }
  const stripe = made.stripe as { id: string; url: string };
  const { transform } = providers.find(({ id }: { id: string }) => id === "stripe");
  const changed = transform.replace("ts: evt.created * 1000,", "ts: evt.created * 1000,\n    v: evt.api_version,");
  await service.rest("PUT", `/webhooks/${stripe.id}`, { body: { transform: changed } });
  const generic = providers.find(({ id }: { id: string }) => id === "generic");
  const shared = (
    await service.rest("POST", "/webhooks", { body: { name: "Preview deployments", transform: generic.transform, environment: "branch" } })
  ).body.data;
  for (const query of ["?x-service-env=feature/cart", "?x-service-env=feature/gone", ""])
    await call(shared.url + query, { method: "POST", headers: JSON_TYPE, body: '{"type":"deployment.ready","id":"d_1"}' });
  return { stripe, shared: shared as { id: string } };
}

/** Returns the id of an event that starts a run. */
async function sendEvents(service: ServiceClient): Promise<string> {
  const customers = ["ada", "grace", "edsger", "barbara", "alan", "margaret"];
  const names = ["shop/order.paid", "user/signed.up", "billing/invoice.sent", "shop/order.paid", "cart/item.added"];
  const events = Array.from({ length: 48 }, (_, n) => ({
    name: names[n % names.length],
    id: n % 4 === 0 ? `demo-${n}` : undefined,
    data: { orderId: 4700 + n, customer: customers[n % customers.length], total: (19.9 + n * 3.7).toFixed(2), items: n % 4 },
  }));
  await service.send(events);
  await service.send({ name: "shop/order.paid", id: "demo-0", data: {} });
  await service.send({ name: "shop/payment.due", data: { orderId: 4711, card: "tok_visa" } });
  await service.send([4702, 4703, 4704, 4705].map((orderId) => ({ name: "shop/order.created", data: { orderId, total: 42.5 } })));
  await service.send({ name: "shop/cart.left", data: { cart: "c_81" } });
  const order = `{"name":"shop/order.created","id":"order-4711","data":{"orderId":4711,"ledger":9007199254740993,"total":129.95,"paid":true,"customer":{"id":"cus_8Zk","name":"Ada Lovelace","email":"ada@example.com"},"items":[{"sku":"teapot","quantity":1,"price":89},{"sku":"cup","quantity":2,"price":20.475}],"note":null},"v":"2026-11"}`;
  const { body } = await service.send(order);
  return body.ids[0];
}

function pagesOf({
  eventId,
  runId,
  jobId,
  stripe,
  shared,
}: {
  eventId: string;
  runId: string;
  jobId: string;
  stripe: { id: string };
  shared: { id: string };
}): DemoPage[] {
  const hook = `/env/dev/webhooks/${stripe.id}`;
  return [
    { name: "overview", path: "/env/dev", ready: "Latest failures" },
    { name: "events", path: "/env/dev/events", ready: "shop/order.created" },
    { name: "event", path: `/env/dev/events/${eventId}`, ready: "9007199254740993" },
    { name: "event-types", path: "/env/dev/event-types", ready: /user\/signed\.up/ },
    { name: "event-type", path: "/env/dev/event-types/shop%2Forder.paid", ready: "Subscribers" },
    { name: "runs", path: "/env/dev/runs", ready: "Charge card" },
    { name: "run", path: `/env/dev/runs/${runId}`, ready: "Buy a label" },
    { name: "failures", path: "/env/dev/failures", ready: "The card was declined" },
    { name: "approvals", path: "/env/dev/approvals", ready: "Refund order 4702?" },
    { name: "jobs", path: "/env/dev/jobs", ready: "Rerun runs" },
    { name: "job", path: `/env/dev/jobs/${jobId}`, ready: /Took/ },
    { name: "alerts", path: "/env/dev/alerts", ready: "Orders fail" },
    { name: "functions", path: "/env/dev/functions", ready: "Fulfil order" },
    { name: "function", path: "/env/dev/functions/shop-charge", ready: "Recent runs" },
    { name: "function-on-hold", path: "/env/dev/functions/shop-deliver", ready: '"ada"' },
    { name: "apps", path: "/env/dev/apps", ready: "Sync again" },
    { name: "webhooks", path: "/env/dev/webhooks", ready: "GitHub" },
    { name: "webhooks-of-branches", path: "/env/branch/webhooks", ready: "Preview deployments" },
    { name: "webhook-new", path: "/env/dev/webhooks/new", ready: "Starter transform" },
    { name: "webhook-transform", path: hook, ready: "Run on recent requests" },
    { name: "webhook-requests", path: `${hook}?tab=requests`, ready: "400 body_invalid" },
    { name: "webhook-versions", path: `${hook}?tab=versions`, ready: /evt\.api_version/ },
    { name: "webhook-settings", path: `/env/branch/webhooks/${shared.id}?tab=settings`, ready: "Delete webhook" },
    { name: "keys", path: "/env/dev/keys", ready: "Checkout" },
    { name: "environments", path: "/env/dev/environments", ready: "feature/cart" },
    { name: "audit-log", path: "/env/dev/audit-log", ready: /webhook|Audit log/ },
    { name: "settings", path: "/env/dev/settings", ready: "Default environment" },
    { name: "first-steps", path: "/env/staging", ready: "Handle it with a function" },
    { name: "run-missing", path: "/env/dev/runs/01J0000000000000000000000X", ready: "This run could not be loaded" },
    { name: "page-missing", path: "/env/dev/nowhere", ready: "Page not found" },
    { name: "sign-in", path: "/login", ready: "Sign in to Inlet" },
  ];
}
