-- What the overview shows: which event types there are, and how much happened when. Kept as sums, because counting ten million
-- events takes seconds, and beside the events, so that accepting one costs no more than before.

CREATE TABLE event_types (
  environment_id INTEGER NOT NULL,
  name_id        INTEGER NOT NULL,
  first_seen_at  INTEGER NOT NULL,
  last_seen_at   INTEGER NOT NULL,
  count          INTEGER NOT NULL,
  PRIMARY KEY (environment_id, name_id)
) STRICT, WITHOUT ROWID;

-- `hour` is counted from 1970.
CREATE TABLE event_type_hours (
  environment_id INTEGER NOT NULL,
  name_id        INTEGER NOT NULL,
  hour           INTEGER NOT NULL,
  count          INTEGER NOT NULL,
  PRIMARY KEY (environment_id, name_id, hour)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_type_hours_by_age ON event_type_hours (hour);

-- One row: the sequence number up to which events are in these sums.
CREATE TABLE event_types_counted (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  sequence INTEGER NOT NULL
) STRICT;
INSERT INTO event_types_counted VALUES (1, 0);

-- `at` is when the minute or hour began.
CREATE TABLE traffic_minutes (
  environment_id INTEGER NOT NULL,
  at             INTEGER NOT NULL,
  accepted       INTEGER NOT NULL,
  duplicates     INTEGER NOT NULL,
  refused        INTEGER NOT NULL,
  runs_started   INTEGER NOT NULL,
  runs_completed INTEGER NOT NULL,
  runs_failed    INTEGER NOT NULL,
  PRIMARY KEY (environment_id, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE traffic_hours (
  environment_id INTEGER NOT NULL,
  at             INTEGER NOT NULL,
  accepted       INTEGER NOT NULL,
  duplicates     INTEGER NOT NULL,
  refused        INTEGER NOT NULL,
  runs_started   INTEGER NOT NULL,
  runs_completed INTEGER NOT NULL,
  runs_failed    INTEGER NOT NULL,
  PRIMARY KEY (environment_id, at)
) STRICT, WITHOUT ROWID;
