// Intercom: conversations, contacts and companies, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `intercom/${evt.topic}`,
    id: evt.id,
    ts: evt.created_at * 1000,
    data: { payload: evt },
  };
}
