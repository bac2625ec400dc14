/** Providers of shops. */

import type { Provider } from "../provider.ts";

export const COMMERCE: readonly Provider[] = [
  {
    id: "shopify",
    title: "Shopify",
    category: "commerce",
    sends: "Orders, products, customers and other topics of a shop, as JSON",
    setUp: "Shopify admin, Settings, Notifications, Webhooks, or a subscription of your app",
    signatureHeader: "X-Shopify-Hmac-Sha256",
    verify: { scheme: "shopify" },
    secretFrom: "The signing key shown under Notifications, Webhooks, or the app's client secret",
    handshake: null,
    note: null,
    retries: "8 times over 4 hours; then a subscription of an app is removed",
    timeout: "5 s",
    documentation: "https://shopify.dev/docs/apps/build/webhooks",
    reconcile: "shopify",
    source: {
      verify: "https://shopify.dev/docs/apps/build/webhooks/verify-deliveries",
      retries: "https://shopify.dev/changelog/updates-to-webhook-retry-mechanism",
      timeout: "https://community.shopify.com/c/Shopify-APIs-SDKs/Webhook-on-create-orders-called-twice/m-p/543046",
      reconcile: "https://shopify.dev/docs/api/admin-rest/latest/resources/order",
    },
  },
  {
    id: "woocommerce",
    title: "WooCommerce",
    category: "commerce",
    sends: "Orders, products, customers and coupons of a shop, as JSON",
    setUp: "WooCommerce, Settings, Advanced, Webhooks: delivery URL and secret",
    signatureHeader: "X-Wc-Webhook-Signature",
    verify: { scheme: "hmac", header: "X-WC-Webhook-Signature", algorithm: "sha256", encoding: "base64", signed: "{raw}" },
    secretFrom: "The secret of the webhook",
    // Sent without a signature when the webhook is saved; any answer but 200 is shown as an error.
    handshake: {
      source:
        'function handshake({ method, headers, raw }) {\n  if (method === "POST" && !headers["X-Wc-Webhook-Signature"] && /^webhook_id=\\d+$/.test(raw)) return { status: 200, body: "" };\n}',
    },
    note: null,
    retries: "No retries are documented. The webhook is disabled after 5 failures in a row",
    timeout: "60 s",
    documentation: "https://woocommerce.com/document/webhooks/",
    reconcile: "woocommerce",
    source: {
      verify: "https://developer.woocommerce.com/docs/apis/rest-api/v2/webhooks/",
      retries: "https://github.com/hookdeck/webhook-skills/tree/main/skills/woocommerce-webhooks",
      timeout: "https://github.com/hookdeck/webhook-skills/tree/main/skills/woocommerce-webhooks",
      reconcile: "https://woocommerce.github.io/woocommerce-rest-api-docs/",
    },
  },
  {
    id: "bigcommerce",
    title: "BigCommerce",
    category: "commerce",
    sends: "Notifications that orders, products or customers of a store changed, without their content, as JSON",
    setUp: "The Management API: POST /v3/hooks with this URL as destination; it must be on port 443",
    signatureHeader: "Webhook-Signature",
    verify: { scheme: "standard-webhooks" },
    secretFrom: "The client secret of the API account or app that created the webhook",
    handshake: null,
    note: null,
    retries: "11 times over 48 hours, after 1, 3, 5, 10, 15, 30 and 60 minutes, 2, 6, 14 and 24 hours; then the webhook is deactivated",
    timeout: null,
    documentation: "https://developer.bigcommerce.com/docs/integrations/webhooks",
    reconcile: "bigcommerce",
    source: {
      verify: "https://github.com/bigcommerce/docs/blob/main/docs/integrations/webhooks/https-webhook-overview.mdx",
      setUp: "https://github.com/bigcommerce/docs/blob/main/docs/integrations/webhooks/https-webhook-overview.mdx",
      retries: "https://github.com/bigcommerce/docs/blob/main/docs/integrations/webhooks/https-webhook-overview.mdx",
      reconcile: "https://github.com/bigcommerce/docs/blob/main/reference/webhooks.v3.yml",
    },
  },
];
