-- Old events are removed, unless something still needs them. Whether a start that is to be decided on does is asked for each.

CREATE INDEX queue_by_event ON queue (event_no) WHERE event_no IS NOT NULL;
