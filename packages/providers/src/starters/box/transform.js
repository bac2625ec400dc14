// Box: files, folders, comments and tasks, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `box/${evt.trigger.toLowerCase()}`,
    id: evt.id,
    ts: Date.parse(evt.created_at),
    data: { payload: evt },
  };
}
