// Zoom: meetings, recordings, users and phone calls, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `zoom/${evt.event}`,
    ts: evt.event_ts,
    data: { payload: evt },
  };
}
