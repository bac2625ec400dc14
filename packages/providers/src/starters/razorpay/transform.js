// Razorpay: payments, orders, refunds and subscriptions, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `razorpay/${evt.event}`,
    id: headers["X-Razorpay-Event-Id"],
    ts: evt.created_at * 1000,
    data: { payload: evt },
  };
}
