// Mailgun: email events (accepted, delivered, opened, failed, …), as JSON.
// Mailgun puts the signature into the body. It covers a timestamp and a token, not the event. The catalogue's handshake checks payload.signature.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `mailgun/${evt["event-data"].event}`,
    id: evt["event-data"].id,
    ts: Math.round(evt["event-data"].timestamp * 1000),
    data: { payload: evt },
  };
}
