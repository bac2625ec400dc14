// Clerk: named by type, such as clerk/user.created. Clerk delivers through Svix, whose headers contain the id and the signature.
// To check the signature in a function, give verify.raw and the three other fields of verify, as the headers svix-id,
// svix-timestamp and svix-signature, to Svix's Webhook.verify. If you do not check it, remove verify.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `clerk/${evt.type}`,
    id: headers["Svix-Id"],
    ts: evt.timestamp ?? Number(headers["Svix-Timestamp"]) * 1000,
    data: {
      payload: evt,
      verify: {
        id: headers["Svix-Id"],
        timestamp: headers["Svix-Timestamp"],
        signature: headers["Svix-Signature"],
        raw,
      },
    },
  };
}
