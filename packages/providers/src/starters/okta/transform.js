// Okta: changes to users, groups and applications, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `okta/${evt.data.events[0].eventType}`,
    id: evt.eventId,
    ts: Date.parse(evt.eventTime),
    data: { payload: evt },
  };
}
