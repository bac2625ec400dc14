// Postmark: email events (delivered, opened, bounced, …) and inbound emails, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `postmark/${(evt.RecordType ?? "Inbound").toLowerCase()}`,
    data: { payload: evt },
  };
}
