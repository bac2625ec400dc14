// Microsoft Graph: changes of mail, calendars, users, files and Teams, as JSON.
// Graph does not sign. Every notification carries the clientState of its subscription: compare it in the function, or here.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `microsoft-graph/${evt.value[0].changeType}`,
    data: { payload: evt },
  };
}
