// X: posts, likes, follows and direct messages of subscribed accounts, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `x/${Object.keys(evt).find((key) => key.endsWith("_events")) ?? "activity"}`,
    data: { payload: evt },
  };
}
