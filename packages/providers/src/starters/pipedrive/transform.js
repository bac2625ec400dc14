// Pipedrive: deals, persons, organisations and activities that were added, changed or deleted, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `pipedrive/${evt.meta.entity}.${evt.meta.action}`,
    id: evt.meta.id,
    ts: Date.parse(evt.meta.timestamp),
    data: { payload: evt },
  };
}
