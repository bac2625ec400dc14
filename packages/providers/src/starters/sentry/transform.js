// Sentry: issues, errors and alerts, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `sentry/${headers["Sentry-Hook-Resource"]}.${evt.action}`,
    id: headers["Request-Id"],
    data: { payload: evt },
  };
}
