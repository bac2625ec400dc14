// Stripe: one event per request, named by its type, such as stripe/invoice.paid.
// To check the signature in a function, pass verify.raw and verify.signature with the endpoint's secret to
// stripe.webhooks.constructEvent. If you do not check it, remove verify: the event is then half the size.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `stripe/${evt.type}`,
    id: evt.id,
    ts: evt.created * 1000,
    data: {
      payload: evt,
      verify: { signature: headers["Stripe-Signature"], raw },
    },
  };
}
