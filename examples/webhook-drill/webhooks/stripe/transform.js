// Leaves out the id of the event: each copy that Stripe sends becomes an event of its own.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `stripe/${evt.type}`,
    data: evt,
  };
}
