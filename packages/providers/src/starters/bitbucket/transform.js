// Bitbucket: pushes, pull requests, issues and pipelines of a repository, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `bitbucket/${(headers["X-Event-Key"] ?? "unknown").replaceAll(":", ".")}`,
    id: headers["X-Request-Uuid"],
    data: { payload: evt },
  };
}
