// WorkOS: users, sessions, organisations and directories, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `workos/${evt.event}`,
    id: evt.id,
    ts: Date.parse(evt.created_at),
    data: { payload: evt },
  };
}
