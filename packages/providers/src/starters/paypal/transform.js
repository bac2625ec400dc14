// PayPal: payments, orders, subscriptions, disputes and payouts, as JSON.
// PayPal signs with a certificate, not with a shared secret: in a function, send verify.* to PayPal's verify-webhook-signature call, or
// check verify.signature, SHA256 with RSA, over id|time|webhook id|CRC32 of verify.raw with the certificate.
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
