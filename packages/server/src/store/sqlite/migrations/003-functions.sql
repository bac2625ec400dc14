-- Functions: the apps that register them, the runs that events start, their steps, and the queue of what is still to be done.

CREATE TABLE apps (
  app_no         INTEGER PRIMARY KEY,
  app_id         TEXT NOT NULL UNIQUE,
  environment_id INTEGER NOT NULL REFERENCES environments (environment_id),
  name           TEXT NOT NULL,
  url            TEXT NOT NULL,
  sdk            TEXT NOT NULL,
  headers        TEXT NOT NULL CHECK (headers IN ('service', 'inngest')),
  framework      TEXT,
  checksum       TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  synced_at      INTEGER NOT NULL,
  error          TEXT,
  removed_at     INTEGER,
  UNIQUE (environment_id, name)
) STRICT;

-- Never deleted: runs of a function that is gone are still shown.
CREATE TABLE functions (
  function_no    INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (environment_id),
  app_no         INTEGER NOT NULL REFERENCES apps (app_no),
  function_id    TEXT NOT NULL,
  name           TEXT NOT NULL,
  config         TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  archived_at    INTEGER,
  UNIQUE (environment_id, function_id)
) STRICT;

-- `event_no` is the sequence of the event that started the run, `event_nos` a JSON array where there are several.
CREATE TABLE runs (
  run_no          INTEGER PRIMARY KEY,
  environment_id  INTEGER NOT NULL,
  run_id          TEXT NOT NULL,
  function_no     INTEGER NOT NULL,
  event_no        INTEGER NOT NULL,
  event_nos       TEXT,
  status          TEXT NOT NULL,
  lane_no         INTEGER NOT NULL,
  created_at      INTEGER NOT NULL,
  started_at      INTEGER,
  ended_at        INTEGER,
  request_version INTEGER NOT NULL DEFAULT -1,
  is_parallel     INTEGER NOT NULL DEFAULT 0,
  state_bytes     INTEGER NOT NULL DEFAULT 0,
  cron            TEXT,
  original_run_id TEXT,
  invoker_run_no  INTEGER,
  invoker_step_id TEXT,
  output          TEXT,
  error           TEXT
) STRICT;

CREATE UNIQUE INDEX runs_by_id ON runs (environment_id, run_id);
CREATE INDEX runs_by_event ON runs (event_no);
-- A run that has completed is in one of these, any other in the other two: lists are merged from them.
CREATE INDEX runs_completed_by_function ON runs (environment_id, function_no, run_id) WHERE status = 'completed';
CREATE INDEX runs_by_function_and_status ON runs (environment_id, function_no, status, run_id) WHERE status <> 'completed';
CREATE INDEX runs_by_status ON runs (environment_id, status, run_id) WHERE status <> 'completed';

-- The events of a batch beside the first, which the run itself names: so that a run is found by each of its events.
CREATE TABLE batched_events (
  event_no INTEGER NOT NULL,
  run_no   INTEGER NOT NULL,
  PRIMARY KEY (event_no, run_no)
) STRICT, WITHOUT ROWID;

-- `value` is what the SDK is given for a step that is done; `done_position` is its place in the order of completion.
CREATE TABLE steps (
  run_no        INTEGER NOT NULL,
  step_id       TEXT NOT NULL,
  kind          TEXT NOT NULL,
  name          TEXT NOT NULL,
  status        TEXT NOT NULL,
  position      INTEGER NOT NULL,
  done_position INTEGER,
  started_at    INTEGER NOT NULL,
  ended_at      INTEGER,
  attempts      INTEGER NOT NULL,
  until         INTEGER,
  detail        TEXT,
  value         TEXT,
  PRIMARY KEY (run_no, step_id)
) STRICT, WITHOUT ROWID;

-- Calls that failed. The others are seen by what they left behind.
CREATE TABLE failed_attempts (
  run_no      INTEGER NOT NULL,
  ended_at    INTEGER NOT NULL,
  step_id     TEXT,
  attempt     INTEGER NOT NULL,
  started_at  INTEGER NOT NULL,
  http_status INTEGER,
  error       TEXT NOT NULL
) STRICT;

CREATE INDEX failed_attempts_by_run ON failed_attempts (run_no, ended_at);

CREATE TABLE lanes (
  lane_no INTEGER PRIMARY KEY,
  key     TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO lanes VALUES (1, 'timers');

-- An entry that is held has `leased_by` set, and is due again when its lease is over. While it waits for its time it stands in
-- lane 1, and `home_lane_no` says where it goes then. `again` asks for one more discovery after the one under way.
CREATE TABLE queue (
  entry_no       INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL,
  lane_no        INTEGER NOT NULL,
  home_lane_no   INTEGER NOT NULL,
  rank           INTEGER NOT NULL,
  due_at         INTEGER NOT NULL,
  kind           TEXT NOT NULL,
  run_no         INTEGER,
  function_no    INTEGER NOT NULL,
  step_id        TEXT NOT NULL DEFAULT '',
  attempt        INTEGER NOT NULL DEFAULT 0,
  claims         INTEGER NOT NULL DEFAULT 0,
  trials         INTEGER NOT NULL DEFAULT 0,
  leased_by      TEXT,
  again          INTEGER NOT NULL DEFAULT 0,
  subject        TEXT,
  event_no       INTEGER
) STRICT;

CREATE INDEX queue_by_lane ON queue (lane_no, rank);
-- Which lanes are still needed by entries that stand among the timers.
CREATE INDEX queue_by_home_lane ON queue (home_lane_no) WHERE lane_no <> home_lane_no;
CREATE UNIQUE INDEX queue_by_run ON queue (run_no, step_id, kind) WHERE run_no IS NOT NULL;
CREATE UNIQUE INDEX queue_by_subject ON queue (function_no, kind, subject) WHERE subject IS NOT NULL;

-- Events that resume or cancel a run. `match_path` and `match_key` find one of many waits without trying each.
CREATE TABLE waits (
  wait_no        INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL,
  event_name     TEXT NOT NULL,
  match_path     TEXT NOT NULL,
  match_key      TEXT NOT NULL,
  kind           TEXT NOT NULL CHECK (kind IN ('event', 'cancel')),
  run_no         INTEGER NOT NULL,
  step_id        TEXT,
  expression     TEXT,
  expires_at     INTEGER NOT NULL
) STRICT;

CREATE INDEX waits_by_event ON waits (environment_id, event_name, match_path, match_key);
CREATE INDEX waits_by_run ON waits (run_no);

-- What rate limits, throttles, debounces, batches and singletons remember.
CREATE TABLE marks (
  function_no INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  key         TEXT NOT NULL,
  value       TEXT NOT NULL,
  expires_at  INTEGER NOT NULL,
  PRIMARY KEY (function_no, kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX marks_by_age ON marks (expires_at);
