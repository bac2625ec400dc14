// SendGrid: one request contains a list of email events. It becomes one event, sendgrid/events, with the
// list in data.events, for a function to go through.
// To check the signature in a function, verify the ECDSA signature over verify.timestamp and verify.raw with the public key of the
// event webhook's settings. If you do not check it, remove verify: the event is then half the size.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const [first] = evt;
  return {
    name: "sendgrid/events",
    // SendGrid repeats a list unchanged, so its first id and its length identify it.
    id: first?.sg_event_id && `sendgrid-${first.sg_event_id}-${evt.length}`,
    ts: first && Math.max(...evt.map((event) => event.timestamp)) * 1000,
    data: {
      events: evt,
      verify: {
        signature: headers["X-Twilio-Email-Event-Webhook-Signature"],
        timestamp: headers["X-Twilio-Email-Event-Webhook-Timestamp"],
        raw,
      },
    },
  };
}
