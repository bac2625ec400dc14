// Shopify: named by topic, such as shopify/orders.create.
// To check the signature in a function, compare verify.signature with the base64 HMAC-SHA256 of verify.raw under the
// app's client secret. If you do not check it, remove verify.
// The id identifies the state of an order or a product, if the payload has one, so that reconciliation recognises it.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const topic = headers["X-Shopify-Topic"];
  const triggeredAt = Date.parse(headers["X-Shopify-Triggered-At"]);
  return {
    name: `shopify/${topic.replaceAll("/", ".")}`,
    id:
      evt.id && evt.updated_at
        ? `${topic}:${evt.id}:${evt.updated_at}`
        : (headers["X-Shopify-Event-Id"] ?? headers["X-Shopify-Webhook-Id"]),
    ts: Number.isNaN(triggeredAt) ? undefined : triggeredAt,
    data: {
      shop: headers["X-Shopify-Shop-Domain"],
      payload: evt,
      verify: { signature: headers["X-Shopify-Hmac-Sha256"], raw },
    },
  };
}
