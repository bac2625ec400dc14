// GitHub: named by event and action, such as github/pull_request.opened or github/push.
// Works for both content types GitHub offers. To check the signature in a function, compare verify.signature with
// "sha256=" and the hex HMAC-SHA256 of verify.raw under the webhook's secret. If you do not check it, remove verify.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const isForm = headers["Content-Type"]?.startsWith("application/x-www-form-urlencoded");
  const payload = isForm ? JSON.parse(evt.payload[0]) : evt;
  const event = headers["X-Github-Event"];
  return {
    name: payload.action ? `github/${event}.${payload.action}` : `github/${event}`,
    id: headers["X-Github-Delivery"],
    data: {
      payload,
      verify: { signature: headers["X-Hub-Signature-256"], raw },
    },
  };
}
