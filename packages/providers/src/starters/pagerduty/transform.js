// PagerDuty: incidents that were triggered, acknowledged or resolved, as JSON.
function transform(evt, headers = {}, queryParams = {}, raw = "") {
  return {
    name: `pagerduty/${evt.event.event_type}`,
    id: evt.event.id,
    ts: Date.parse(evt.event.occurred_at),
    data: { payload: evt },
  };
}
