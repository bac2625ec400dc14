// WooCommerce: orders, products, customers and coupons of a shop, as JSON.
// The id identifies the state of an order, if the payload has its key, so that reconciliation recognises it.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const topic = headers["X-Wc-Webhook-Topic"];
  const states = {
    "order.created": [evt.order_key],
    "order.updated": [evt.order_key, evt.date_modified_gmt, evt.status],
  };
  const state = states[topic];
  return {
    name: `woocommerce/${topic}`,
    id: state?.every(Boolean) ? [topic, ...state].join(":") : headers["X-Wc-Webhook-Delivery-Id"],
    data: { payload: evt },
  };
}
