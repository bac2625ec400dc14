/**
 * Shopify: what was changed, resource by resource. Shopify lists no deliveries: an item is the present state of an order or a product, as
 * the webhook of its topic delivers it. https://shopify.dev/docs/api/admin-rest/latest/resources/order
 */

import { addressOf, get, jsonOf, keyHeader, listIn, nextInLink, type Preset, type PresetOptions } from "./preset.ts";

const VERSION = "2025-01";
/** Orders have up to some 20 KB, and a page 1 MB. */
const LIMIT = "50";

interface Cursor {
  /** The position of the resource in the list of them. */
  resource: number;
  page?: string;
}

export const shopify: Preset = (options) => ({
  request({ since, until, cursor, secrets }) {
    const { resource, page } = (cursor as Cursor | undefined) ?? { resource: 0 };
    const name = resourcesOf(options)[resource] ?? "orders";
    // Parameters of the first page may not be repeated with those that follow.
    const asked =
      page !== undefined
        ? { page_info: page }
        : { updated_at_min: since, updated_at_max: until, ...(name === "orders" && { status: "any" }) };
    const address = addressOf(options, `https://${options.shop}`, `/admin/api/${VERSION}/${name}.json`, { limit: LIMIT, ...asked });
    return get(address, keyHeader("x-shopify-access-token", secrets));
  },
  read({ cursor, ...response }) {
    const { resource } = (cursor as Cursor | undefined) ?? { resource: 0 };
    const resources = resourcesOf(options);
    const name = resources[resource] ?? "orders";
    const items = listIn(jsonOf(response), name).map((one) => itemOf(one, name, String(options.shop)));
    const page = nextInLink(response, "page_info");
    if (page !== undefined) return { items, cursor: { resource, page } };
    return resource + 1 < resources.length ? { items, cursor: { resource: resource + 1 } } : { items };
  },
});

function resourcesOf({ resources }: PresetOptions): readonly string[] {
  return Array.isArray(resources) && resources.length > 0 ? resources : ["orders"];
}

function itemOf(one: Record<string, unknown>, resource: string, shop: string) {
  const topic = `${resource}/${one.created_at === one.updated_at ? "create" : verbOf(resource)}`;
  const headers = { "X-Shopify-Topic": topic, "X-Shopify-Shop-Domain": shop, "X-Shopify-Api-Version": VERSION };
  return { id: `${resource}:${one.id}:${one.updated_at}`, headers, body: one };
}

/** The topics of orders are in the past tense. */
function verbOf(resource: string): string {
  return resource === "orders" ? "updated" : "update";
}
