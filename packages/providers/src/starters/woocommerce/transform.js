// WooCommerce: orders, products, customers and coupons of a shop, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `woocommerce/${headers["X-Wc-Webhook-Topic"] ?? "ping"}`,
    id: headers["X-Wc-Webhook-Delivery-Id"],
    data: { payload: evt },
  };
}
