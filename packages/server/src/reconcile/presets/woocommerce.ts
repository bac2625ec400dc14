/**
 * WooCommerce: which orders were created or changed, topic by topic. WooCommerce lists no deliveries: an item is the present state of an order,
 * as the webhook of its topic delivers it. https://woocommerce.github.io/woocommerce-rest-api-docs/
 */

import { addressOf, basic, get, jsonOf, nextInLink, type Preset, type PresetOptions, recordsOf } from "./preset.ts";

interface Cursor {
  /** The position of the topic in the list of them. */
  topic: number;
  page?: string;
}

const LIMIT = "50";
const TOPICS = ["order.created", "order.updated"];

export const woocommerce: Preset = (options) => ({
  request({ since, until, cursor, secrets }) {
    const { topic, page } = placeOf(cursor);
    const [after, before] = isCreation(options, topic) ? ["after", "before"] : ["modified_after", "modified_before"];
    const range = { [after]: gmt(since), [before]: gmt(until, 1_000), dates_are_gmt: "true" };
    const query = { per_page: LIMIT, orderby: "id", order: "asc", ...range, ...(page !== undefined && { page }) };
    return get(addressOf(options, String(options.site), "/wp-json/wc/v3/orders", query), basic(String(options.consumerKey), secrets));
  },
  read({ cursor, ...response }) {
    const { topic } = placeOf(cursor);
    const listed = recordsOf(jsonOf(response), "orders");
    // What was never changed was not delivered as changed.
    const sent = isCreation(options, topic) ? listed : listed.filter((one) => one.date_modified_gmt !== one.date_created_gmt);
    const items = sent.map((order) => itemOf(order, topicsOf(options)[topic] ?? ""));
    const page = nextInLink(response, "page");
    if (page !== undefined && listed.length > 0) return { items, cursor: { topic, page } };
    return topic + 1 < topicsOf(options).length ? { items, cursor: { topic: topic + 1 } } : { items };
  },
});

function placeOf(cursor: unknown): Cursor {
  return (cursor as Cursor | undefined) ?? { topic: 0 };
}

function topicsOf({ topics }: PresetOptions): readonly string[] {
  return Array.isArray(topics) ? topics : TOPICS;
}

function isCreation(options: PresetOptions, topic: number): boolean {
  return topicsOf(options)[topic] === "order.created";
}

function itemOf(order: Record<string, unknown>, topic: string) {
  const [resource = "", event = ""] = topic.split(".");
  const headers = { "X-WC-Webhook-Topic": topic, "X-WC-Webhook-Resource": resource, "X-WC-Webhook-Event": event };
  return { id: `${topic}:${order.order_key}:${event === "created" ? "" : order.date_modified_gmt}`, headers, body: order };
}

/** WordPress compares whole seconds. */
function gmt(instant: string, laterMs = 0): string {
  return new Date(Date.parse(instant) + laterMs).toISOString().slice(0, 19);
}
