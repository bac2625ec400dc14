// Mailgun: what happened to mails (accepted, delivered, opened, failed, …), as JSON.
// Mailgun signs inside the body, timestamp and token without the event. The catalogue's handshake checks payload.signature.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `mailgun/${evt["event-data"].event}`,
    id: evt["event-data"].id,
    ts: Math.round(evt["event-data"].timestamp * 1000),
    data: { payload: evt },
  };
}
