// HubSpot: changes of contacts, companies, deals and tickets, many in one request, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `hubspot/${evt[0].subscriptionType}`,
    ts: evt[0].occurredAt,
    data: { payload: evt },
  };
}
