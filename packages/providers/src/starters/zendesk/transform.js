// Zendesk: tickets, users and organisations, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `zendesk/${String(evt.type ?? "notification").replace(/^zen:event-type:/, "")}`,
    id: evt.id,
    ts: evt.time ? Date.parse(evt.time) : undefined,
    data: { payload: evt },
  };
}
