// Microsoft Graph: changes to mail, calendars, users, files and Teams, as JSON.
// Graph does not sign. The catalogue's handshake compares the clientState of every notification with the webhook's secret.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `microsoft-graph/${evt.value[0].changeType}`,
    data: { payload: evt },
  };
}
