// Linear: named by what changed and how, such as linear/issue.create or linear/comment.update.
// To check the signature in a function, compare verify.signature with the hex HMAC-SHA256 of verify.raw under the
// webhook's signing secret. If you do not check it, remove verify.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `linear/${evt.type.toLowerCase()}.${evt.action}`,
    id: headers["Linear-Delivery"],
    ts: evt.webhookTimestamp,
    data: {
      payload: evt,
      verify: { signature: headers["Linear-Signature"], raw },
    },
  };
}
