// Includes the signature and the raw body, so that the function can verify them.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `payments/${evt.type}`,
    id: evt.id,
    data: { payload: evt, signature: headers["X-Payments-Signature"] ?? "", raw },
  };
}
