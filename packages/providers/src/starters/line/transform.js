// LINE: messages and other events for a LINE bot, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `line/${evt.events?.[0]?.type ?? "verification"}`,
    id: evt.events?.[0]?.webhookEventId,
    ts: evt.events?.[0]?.timestamp,
    data: { payload: evt },
  };
}
