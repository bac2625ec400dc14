// Resend: email events (sent, delivered, opened, bounced, …), as JSON through Svix.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `resend/${evt.type}`,
    id: headers["Svix-Id"],
    ts: Date.parse(evt.created_at),
    data: { payload: evt },
  };
}
