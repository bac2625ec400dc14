// Asana: changes to tasks, projects and stories, several in one request, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `asana/${evt.events?.[0] ? `${evt.events[0].resource.resource_type}.${evt.events[0].action}` : "heartbeat"}`,
    ts: evt.events?.[0] ? Date.parse(evt.events[0].created_at) : undefined,
    data: { payload: evt },
  };
}
