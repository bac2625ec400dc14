// WhatsApp and Meta: messages and their status, comments, leads and other changes in Meta's apps, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const [first] = evt.entry ?? [];
  return {
    name: `meta/${evt.object}.${first?.changes?.[0]?.field ?? (first?.messaging ? "messaging" : "changed")}`,
    data: { payload: evt },
  };
}
