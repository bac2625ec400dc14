// Telegram: messages and other updates for a bot, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `telegram/${Object.keys(evt).find((key) => key !== "update_id") ?? "update"}`,
    id: `telegram-${evt.update_id}`,
    data: { payload: evt },
  };
}
