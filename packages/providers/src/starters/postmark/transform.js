// Postmark: what happened to mails (delivered, opened, bounced, …) and inbound mail, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `postmark/${(evt.RecordType ?? "Inbound").toLowerCase()}`,
    data: { payload: evt },
  };
}
