// Polar: orders, subscriptions, checkouts and benefits, as JSON that follows Standard Webhooks.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `polar/${evt.type}`,
    id: headers["Webhook-Id"],
    ts: Date.parse(evt.timestamp),
    data: { payload: evt },
  };
}
