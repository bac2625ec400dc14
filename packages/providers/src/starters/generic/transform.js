// Any provider: looks for the event's type, id and time where providers usually put them, and keeps the whole request.
// Providers that follow the Standard Webhooks specification are covered in full. Change the name to suit yours.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const type = evt?.type ?? evt?.event_type ?? evt?.event ?? headers["X-Event-Type"];
  const sentAt = Number(headers["Webhook-Timestamp"]) * 1000;
  return {
    name: typeof type === "string" && type !== "" ? `webhook/${type}` : "webhook/received",
    id: headers["Webhook-Id"],
    ts: Number.isNaN(sentAt) ? undefined : sentAt,
    data: { payload: evt, headers, queryParams, raw },
  };
}
