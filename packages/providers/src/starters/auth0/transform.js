// Auth0: log events: sign-ins, failures, changes to users, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `auth0/${(Array.isArray(evt) ? evt[0] : evt)?.data?.type ?? "log"}`,
    id: (Array.isArray(evt) ? evt[0] : evt)?.log_id,
    ts: Date.parse((Array.isArray(evt) ? evt[0] : evt)?.data?.date),
    data: { payload: evt },
  };
}
