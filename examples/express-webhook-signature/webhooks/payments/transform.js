// Passes the provider's signature and the raw body on, so that the function can check one against the other.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `payments/${evt.type}`,
    id: evt.id,
    data: { payload: evt, signature: headers["X-Payments-Signature"] ?? "", raw },
  };
}
