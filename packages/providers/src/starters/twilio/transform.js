// Twilio: messages and calls, named by what they are and their status, such as twilio/message.received,
// twilio/message.delivered or twilio/call.completed. Twilio sends a form; each field is a list with one value here.
// To check the signature in a function, pass verify.signature, the webhook's full URL and payload to
// twilio.validateRequest with the account's auth token.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const payload = Object.fromEntries(Object.entries(evt).map(([key, values]) => [key, values[0]]));
  const kind = payload.CallSid ? "call" : "message";
  const sid = payload.CallSid ?? payload.MessageSid ?? payload.SmsSid;
  const status = payload.CallStatus ?? payload.MessageStatus ?? payload.SmsStatus ?? "received";
  const sentAt = Date.parse(payload.Timestamp);
  return {
    name: `twilio/${kind}.${status}`,
    id: headers["I-Twilio-Idempotency-Token"] ?? `twilio-${sid}-${status}`,
    ts: Number.isNaN(sentAt) ? undefined : sentAt,
    data: {
      payload,
      verify: { signature: headers["X-Twilio-Signature"], raw },
    },
  };
}
