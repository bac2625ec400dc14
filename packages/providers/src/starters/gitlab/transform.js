// GitLab: pushes, merge requests, issues, pipelines and releases of a project or group, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `gitlab/${evt.object_kind}`,
    id: headers["X-Gitlab-Event-Uuid"],
    data: { payload: evt },
  };
}
