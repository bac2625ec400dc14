// Tally: submitted forms, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `tally/${evt.eventType.toLowerCase()}`,
    id: evt.eventId,
    ts: Date.parse(evt.createdAt),
    data: { payload: evt },
  };
}
