// Dropbox: the ids of accounts in which files changed, as JSON. Ask the API what changed.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: "dropbox/files.changed",
    data: { payload: evt },
  };
}
