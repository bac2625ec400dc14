// Jira: issues, comments, sprints and versions, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `jira/${evt.webhookEvent.replace(/^jira:/, "")}`,
    id: headers["X-Atlassian-Webhook-Identifier"],
    ts: evt.timestamp,
    data: { payload: evt },
  };
}
