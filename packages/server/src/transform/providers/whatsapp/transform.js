// WhatsApp and Meta: messages and their status, comments, leads and other changes in Meta's apps, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `meta/${evt.object}.${evt.entry?.[0]?.changes?.[0]?.field ?? "changed"}`,
    data: { payload: evt },
  };
}
