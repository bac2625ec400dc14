// Zendesk: tickets, users and organisations, as JSON. In the body of a trigger or an automation, which you write, an id is not that of an event.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `zendesk/${String(evt.type ?? "notification").replace(/^zen:event-type:/, "")}`,
    id: evt.type ? evt.id : undefined,
    ts: evt.time ? Date.parse(evt.time) : undefined,
    data: { payload: evt },
  };
}
