// HubSpot: changes to contacts, companies, deals and tickets, several in one request, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `hubspot/${evt[0].subscriptionType}`,
    ts: evt[0].occurredAt,
    data: { payload: evt },
  };
}
