// Cal.com: bookings that were created, moved, cancelled or ended, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `cal-com/${evt.triggerEvent.toLowerCase()}`,
    ts: Date.parse(evt.createdAt),
    data: { payload: evt },
  };
}
