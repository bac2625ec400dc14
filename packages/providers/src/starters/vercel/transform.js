// Vercel: deployments, projects and domains, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `vercel/${evt.type}`,
    id: evt.id,
    ts: evt.createdAt,
    data: { payload: evt },
  };
}
