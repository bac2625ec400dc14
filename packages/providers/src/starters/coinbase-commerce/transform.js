// Coinbase Commerce: charges that were created, paid or failed, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `coinbase-commerce/${evt.event.type}`,
    id: evt.event.id,
    ts: Date.parse(evt.event.created_at),
    data: { payload: evt },
  };
}
