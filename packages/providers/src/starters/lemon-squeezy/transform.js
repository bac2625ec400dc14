// Lemon Squeezy: orders, subscriptions, invoices and licence keys, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `lemon-squeezy/${evt.meta.event_name}`,
    ts: Date.parse(evt.data.attributes.updated_at),
    data: { payload: evt },
  };
}
