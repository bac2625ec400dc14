// Slack: the Events API (JSON), interactivity and slash commands (forms), such as slack/app_mention,
// slack/interaction.block_actions or slack/command.
// To check the signature in a function, compare verify.signature with "v0=" and the hex HMAC-SHA256 of
// `v0:${verify.timestamp}:${verify.raw}` under the app's signing secret. If you do not check it, remove verify.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const { name, id, ts, payload } = read(evt);
  return {
    name: `slack/${name}`,
    id,
    ts,
    data: {
      payload,
      verify: { signature: headers["X-Slack-Signature"], timestamp: headers["X-Slack-Request-Timestamp"], raw },
    },
  };
}

function read(evt) {
  if (evt.payload) {
    const payload = JSON.parse(evt.payload[0]);
    return { name: `interaction.${payload.type}`, id: payload.trigger_id, payload };
  }
  if (evt.command) {
    const payload = Object.fromEntries(Object.entries(evt).map(([key, values]) => [key, values[0]]));
    return { name: "command", id: payload.trigger_id, payload };
  }
  if (evt.type === "event_callback") {
    return { name: evt.event.type, id: evt.event_id, ts: evt.event_time * 1000, payload: evt };
  }
  return { name: evt.type, payload: evt };
}
