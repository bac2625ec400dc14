// Notion: pages, databases and comments that changed, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `notion/${evt.type}`,
    id: evt.id,
    ts: Date.parse(evt.timestamp),
    data: { payload: evt },
  };
}
