// Trello: changes to boards, lists and cards, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `trello/${evt.action.type}`,
    id: evt.action.id,
    ts: Date.parse(evt.action.date),
    data: { payload: evt },
  };
}
