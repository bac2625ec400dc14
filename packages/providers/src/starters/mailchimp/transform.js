// Mailchimp: subscribes, unsubscribes, profile changes and campaigns of an audience, as a form.
// Mailchimp does not sign. The URL is the secret: rotate it if it leaks.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `mailchimp/${evt.type[0]}`,
    ts: Date.parse(`${evt.fired_at[0].replace(" ", "T")}Z`),
    data: { payload: evt },
  };
}
