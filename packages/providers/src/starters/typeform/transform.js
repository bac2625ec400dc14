// Typeform: submitted responses, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `typeform/${evt.event_type}`,
    id: evt.event_id,
    ts: Date.parse(evt.form_response.submitted_at),
    data: { payload: evt },
  };
}
