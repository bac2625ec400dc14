// Google Calendar: notifications without a body that something changed in a calendar. Ask the API what changed.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `google-calendar/${headers["X-Goog-Resource-State"]}`,
    id: `${headers["X-Goog-Channel-Id"]}-${headers["X-Goog-Message-Number"]}`,
    data: {
      channel: headers["X-Goog-Channel-Id"],
      resource: headers["X-Goog-Resource-Id"],
      resourceUri: headers["X-Goog-Resource-Uri"],
      state: headers["X-Goog-Resource-State"],
      number: Number(headers["X-Goog-Message-Number"]),
    },
  };
}
