// Calendly: invitees that booked or cancelled, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `calendly/${evt.event}`,
    ts: Date.parse(evt.created_at),
    data: { payload: evt },
  };
}
