// PayPal: payments, orders, subscriptions, disputes and payouts, as JSON.
// PayPal signs with a certificate, not with a shared secret: check verify.* in a function with PayPal's verify-webhook-signature call.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `paypal/${evt.event_type.toLowerCase()}`,
    id: evt.id,
    ts: Date.parse(evt.create_time),
    data: {
      payload: evt,
      verify: {
        id: headers["Paypal-Transmission-Id"],
        time: headers["Paypal-Transmission-Time"],
        signature: headers["Paypal-Transmission-Sig"],
        algorithm: headers["Paypal-Auth-Algo"],
        certificate: headers["Paypal-Cert-Url"],
        raw,
      },
    },
  };
}
