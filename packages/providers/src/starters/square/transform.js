// Square: payments, orders, customers and invoices, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `square/${evt.type}`,
    id: evt.event_id,
    ts: Date.parse(evt.created_at),
    data: { payload: evt },
  };
}
