-- All tables: for accepting events, recognising duplicates, finding events later, and running functions.
-- The environment is the first column of every key, as in PostgreSQL, where a sharded server distributes by it.

CREATE TABLE environments (
  environment_id INTEGER PRIMARY KEY,
  name           TEXT NOT NULL UNIQUE,
  kind           TEXT NOT NULL CHECK (kind IN ('default', 'custom', 'branch', 'shared')),
  created_at     INTEGER NOT NULL,
  archived_at    INTEGER,
  body_bytes_max INTEGER,
  -- Retention times; null: as set for the installation.
  event_retention_ms   INTEGER,
  run_retention_ms     INTEGER,
  request_retention_ms INTEGER,
  -- Quotas; null: no limit.
  events_per_second_max INTEGER,
  events_per_day_max    INTEGER,
  bytes_per_day_max     INTEGER,
  calls_at_once_max     INTEGER,
  stored_bytes_max      INTEGER,
  -- The database that holds its data: an embedded store has only its own.
  database_no    INTEGER NOT NULL DEFAULT 0 CHECK (database_no = 0)
) STRICT;

-- Keys are looked up by their hash. Only signing keys store their text, encrypted: signing requires it.
CREATE TABLE keys (
  key_id         TEXT PRIMARY KEY,
  kind           TEXT NOT NULL CHECK (kind IN ('event', 'api', 'signing')),
  name           TEXT NOT NULL,
  environment_id INTEGER REFERENCES environments (environment_id),
  hash           TEXT NOT NULL,
  prefix         TEXT NOT NULL,
  secret         TEXT,
  role           TEXT,
  event_names    TEXT,
  -- A JSON array of names, or null for all of them. Names never change.
  environments   TEXT,
  ips            TEXT,
  created_at     INTEGER NOT NULL,
  revoked_at     INTEGER,
  UNIQUE (kind, hash),
  -- An event key belongs to an environment, an API key to none; a signing key without one is valid in every environment.
  CHECK (kind <> 'event' OR environment_id IS NOT NULL),
  CHECK (kind <> 'api' OR environment_id IS NULL),
  CHECK ((kind = 'signing') = (secret IS NOT NULL)),
  CHECK ((kind = 'api') = (role IS NOT NULL))
) STRICT;

-- Secrets of the store itself, encrypted. `key-hash`: keys that are computed from events are stored as hashes under it.
CREATE TABLE store_secrets (
  name   TEXT PRIMARY KEY,
  secret TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Names and sources repeat in nearly every event. As numbers they keep the rows, and above all the index keys, small.
CREATE TABLE event_names (
  name_id INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE event_sources (
  source_no   INTEGER PRIMARY KEY,
  source_kind TEXT NOT NULL,
  source_id   TEXT NOT NULL,
  UNIQUE (source_kind, source_id)
) STRICT;

-- `sequence` is the rowid: rows are appended to the end of one tree, in commit order, which live streams follow.
-- `data` and `extras` are the sender's own text. JSON columns would reorder keys and round numbers.
CREATE TABLE events (
  sequence       INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL,
  event_id       TEXT NOT NULL,
  name_id        INTEGER NOT NULL,
  ts             INTEGER NOT NULL,
  received_at    INTEGER NOT NULL,
  dedup_id       TEXT,
  source_no      INTEGER NOT NULL,
  duplicates     INTEGER NOT NULL DEFAULT 0,
  -- Whether it started a function or resumed a run.
  matched        INTEGER NOT NULL DEFAULT 0,
  -- The sender's traceparent.
  trace          TEXT,
  -- The run that sent it, or whose step or end caused it.
  source_run_id  TEXT,
  extras         TEXT,
  -- How it violates the schema declared for its name, as JSON; null: it does not, or it is not marked.
  schema_errors  TEXT,
  data           TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_by_id ON events (environment_id, event_id);
CREATE INDEX events_by_time ON events (environment_id, received_at);
CREATE INDEX events_by_name ON events (environment_id, name_id, received_at);
CREATE INDEX events_by_dedup_id ON events (environment_id, dedup_id, received_at) WHERE dedup_id IS NOT NULL;

-- Stored apart from events, so that dedup ids expire with their own window and not with the payloads.
CREATE TABLE dedup_keys (
  environment_id INTEGER NOT NULL,
  dedup_id       TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  first_seen_at  INTEGER NOT NULL,
  PRIMARY KEY (environment_id, dedup_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX dedup_keys_by_age ON dedup_keys (environment_id, first_seen_at);

-- One row, written to check whether the store is writable.
CREATE TABLE probe (
  only_row   INTEGER PRIMARY KEY CHECK (only_row = 1),
  written_at INTEGER NOT NULL
) STRICT;
INSERT INTO probe VALUES (1, 0);

-- Webhooks. `verify`, `handshake`, `answer` and `mirror` are JSON; `secrets` is JSON too, encrypted.
CREATE TABLE webhooks (
  webhook_id     TEXT PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (environment_id),
  name           TEXT NOT NULL,
  version        INTEGER NOT NULL,
  event_names    TEXT,
  ips            TEXT,
  verify         TEXT,
  handshake      TEXT,
  answer         TEXT,
  mirror         TEXT,
  reconcile      TEXT,
  secrets        TEXT,
  enabled        INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  deleted_at     INTEGER
) STRICT;

-- Tokens are never deleted: a rotated token must not be treated as an unknown key, nor be generated again.
-- They are stored in plain text, because people must be able to read the URL again.
CREATE TABLE webhook_tokens (
  token      TEXT PRIMARY KEY,
  webhook_id TEXT NOT NULL REFERENCES webhooks (webhook_id),
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_versions (
  webhook_id TEXT NOT NULL REFERENCES webhooks (webhook_id),
  version    INTEGER NOT NULL,
  transform  TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- The name of the key or person that saved it.
  author     TEXT,
  PRIMARY KEY (webhook_id, version)
) STRICT, WITHOUT ROWID;

-- `environment_id` is the webhook's own, which leads the key; `delivered_to` is the environment of the event, such as a branch.
-- `verified_at` is the time of receipt against which the age of a signature was checked; null if nothing was verified.
-- `body_key` is a hash of the body, set if the request made an event that has no dedup id or the transform refused it: a listed item may be
-- known by its body only. Of a listed item that was refused, it is the key by which the item is known.
CREATE TABLE webhook_requests (
  sequence          INTEGER PRIMARY KEY,
  environment_id    INTEGER NOT NULL,
  webhook_id        TEXT NOT NULL,
  request_id        TEXT NOT NULL,
  received_at       INTEGER NOT NULL,
  ip                TEXT NOT NULL,
  method            TEXT NOT NULL,
  headers           TEXT NOT NULL,
  query             TEXT NOT NULL,
  content_type      TEXT,
  body              TEXT,
  body_base64       TEXT,
  status            INTEGER NOT NULL,
  outcome           TEXT NOT NULL,
  error             TEXT,
  event_id          TEXT,
  delivered_to      INTEGER NOT NULL,
  transform_version INTEGER NOT NULL,
  duration_ms       REAL NOT NULL,
  logs              TEXT NOT NULL,
  verified_at       INTEGER,
  reconciled        INTEGER NOT NULL DEFAULT 0,
  body_key          TEXT
) STRICT;

-- With the outcome, so that requests are counted without reading their bodies.
CREATE INDEX webhook_requests_by_time ON webhook_requests (environment_id, webhook_id, received_at, sequence, outcome);
CREATE UNIQUE INDEX webhook_requests_by_id ON webhook_requests (environment_id, webhook_id, request_id);
CREATE INDEX webhook_requests_by_event ON webhook_requests (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX webhook_requests_by_body ON webhook_requests (environment_id, webhook_id, body_key) WHERE body_key IS NOT NULL;
-- Refused requests, by the length of their body: an erasure finds those with the body of an erased one.
CREATE INDEX webhook_requests_by_length ON webhook_requests (environment_id, webhook_id, octet_length(coalesce(body_base64, body)))
  WHERE event_id IS NULL AND body IS NOT NULL;

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
  -- The signing key of the last registration; null on a dev server.
  signing_key_id TEXT,
  UNIQUE (environment_id, name)
) STRICT;

-- Never deleted: runs of a removed function are still shown.
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
  -- Set while the function is paused.
  paused_at      INTEGER,
  -- JSON: limits that people set without a deploy.
  limits         TEXT,
  UNIQUE (environment_id, function_id)
) STRICT;

-- `event_no` is the sequence number of the event that started the run, `event_nos` a JSON array if there are several. `order_key` is the
-- text that is shown; `ordered_runs` has its hash.
CREATE TABLE runs (
  run_no          INTEGER PRIMARY KEY,
  environment_id  INTEGER NOT NULL,
  run_id          TEXT NOT NULL,
  function_no     INTEGER NOT NULL,
  event_no        INTEGER NOT NULL,
  event_nos       TEXT,
  status          TEXT NOT NULL,
  lane            TEXT NOT NULL,
  created_at      INTEGER NOT NULL,
  started_at      INTEGER,
  ended_at        INTEGER,
  request_version INTEGER NOT NULL DEFAULT -1,
  is_parallel     INTEGER NOT NULL DEFAULT 0,
  state_bytes     INTEGER NOT NULL DEFAULT 0,
  cron            TEXT,
  original_run_id TEXT,
  job_id          TEXT,
  invoker_run_no  INTEGER,
  invoker_step_id TEXT,
  order_key       TEXT,
  -- The event that cancelled it.
  cancel_event_id TEXT,
  output          TEXT,
  error           TEXT
) STRICT;

CREATE UNIQUE INDEX runs_by_id ON runs (environment_id, run_id);
CREATE INDEX runs_by_event ON runs (event_no);
-- Completed runs are in the first of these indexes, all others in the other two. Lists merge them.
CREATE INDEX runs_completed_by_function ON runs (environment_id, function_no, run_id) WHERE status = 'completed';
CREATE INDEX runs_by_function_and_status ON runs (environment_id, function_no, status, run_id) WHERE status <> 'completed';
CREATE INDEX runs_by_status ON runs (environment_id, status, run_id) WHERE status <> 'completed';
CREATE INDEX runs_by_job ON runs (environment_id, job_id, run_id) WHERE job_id IS NOT NULL;
-- Finds the runs that repeat a run.
CREATE INDEX runs_by_original ON runs (environment_id, original_run_id, run_id) WHERE original_run_id IS NOT NULL;
CREATE INDEX runs_by_cancel_event ON runs (environment_id, cancel_event_id) WHERE cancel_event_id IS NOT NULL;

-- The events of a batch except the first, which the run itself names: finds a run by each of its events.
CREATE TABLE batched_events (
  event_no INTEGER NOT NULL,
  run_no   INTEGER NOT NULL,
  PRIMARY KEY (event_no, run_no)
) STRICT, WITHOUT ROWID;

-- `value` is what the SDK receives for a completed step; `done_position` is its position in the order in which steps ended. `event_id` is
-- the event that ended a wait, or with which another function was invoked.
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
  event_id      TEXT,
  value         TEXT,
  PRIMARY KEY (run_no, step_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX steps_by_event ON steps (event_id) WHERE event_id IS NOT NULL;

-- Failed calls. Others are visible by their results.
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

-- All outstanding work. Keys computed from events are hashes in lanes, subjects, marks, limit ids and orders (store/contract/store.ts), so
-- they are short.
--
-- A leased entry has `lease_id` and `leased_by` set, and is due again when its lease expires. An entry that is due later is
-- in the lane 'timers', by its due time; `home_lane` and `home_rank` are its position from then on. `again` requests one more discovery after the one in progress.
-- `event_no`, `ended_run_no` and `outcome` (of a wait for a signal, as JSON) contain the result of a wait that ended before its timeout.
CREATE TABLE queue (
  entry_no       INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL,
  lane           TEXT NOT NULL,
  home_lane      TEXT NOT NULL,
  rank           INTEGER NOT NULL,
  home_rank      INTEGER NOT NULL,
  due_at         INTEGER NOT NULL,
  kind           TEXT NOT NULL,
  run_no         INTEGER,
  function_no    INTEGER NOT NULL,
  step_id        TEXT NOT NULL DEFAULT '',
  attempt        INTEGER NOT NULL DEFAULT 0,
  claims         INTEGER NOT NULL DEFAULT 0,
  calling_probes    INTEGER NOT NULL DEFAULT 0,
  concluding_probes INTEGER NOT NULL DEFAULT 0,
  lease_id       TEXT,
  leased_by      TEXT,
  again          INTEGER NOT NULL DEFAULT 0,
  subject        TEXT,
  event_no       INTEGER,
  ended_run_no   INTEGER,
  outcome        TEXT
) STRICT;

CREATE INDEX queue_by_lane ON queue (lane, rank) WHERE lane <> 'timers';
CREATE INDEX queue_timers ON queue (rank) WHERE lane = 'timers';
CREATE UNIQUE INDEX queue_by_run ON queue (run_no, step_id, kind) WHERE run_no IS NOT NULL;
-- Finds the events that must not be removed, because entries still need them.
CREATE INDEX queue_by_event ON queue (event_no) WHERE event_no IS NOT NULL;
-- Calls of paused functions (HELD_UNTIL).
CREATE INDEX queue_held ON queue (function_no, run_no) WHERE due_at = 8640000000000000;
CREATE UNIQUE INDEX queue_by_subject ON queue (function_no, kind, subject) WHERE subject IS NOT NULL;

-- Events that resume or cancel a run. `match_path` and `match_key` find one of many waits without testing each. Events received
-- before `since` do not match. A wait that still looks back has examined the events up to `look_at` and `look_no`, the time and
-- sequence of the last one.
CREATE TABLE waits (
  wait_no        INTEGER PRIMARY KEY,
  environment_id INTEGER NOT NULL,
  event_name     TEXT NOT NULL,
  match_path     TEXT NOT NULL,
  match_key      TEXT NOT NULL,
  kind           TEXT NOT NULL CHECK (kind IN ('event', 'cancel', 'signal')),
  run_no         INTEGER NOT NULL,
  step_id        TEXT,
  expression     TEXT,
  since          INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL,
  look_at        INTEGER,
  look_no        INTEGER
) STRICT;

CREATE INDEX waits_looking_back ON waits (environment_id, event_name, look_at, look_no) WHERE look_at IS NOT NULL;
CREATE INDEX waits_by_event ON waits (environment_id, event_name, match_path, match_key);
CREATE INDEX waits_by_run ON waits (run_no);
-- At most one run waits for a signal.
CREATE UNIQUE INDEX waits_by_signal ON waits (environment_id, event_name) WHERE kind = 'signal';

-- Questions to people. `wait_name` is the event name under which the step that a decision answers waits. One that is open, or whose decision
-- is kept for a step that does not wait yet, is pending.
CREATE TABLE approvals (
  approval_id       TEXT PRIMARY KEY,
  environment_id    INTEGER NOT NULL,
  wait_name         TEXT NOT NULL,
  signal            TEXT,
  status            TEXT NOT NULL CHECK (status IN ('open', 'approved', 'rejected', 'expired', 'cancelled')),
  is_pending        INTEGER NOT NULL,
  prompt            TEXT NOT NULL,
  data              TEXT NOT NULL,
  confirms_reject   INTEGER NOT NULL,
  run_no            INTEGER,
  run_id            TEXT,
  function_no       INTEGER,
  step_id           TEXT,
  created_at        INTEGER NOT NULL,
  expires_at        INTEGER NOT NULL,
  ended_at          INTEGER,
  decided_by        TEXT,
  comment           TEXT,
  decision_data     TEXT,
  request_event_id  TEXT NOT NULL,
  decision_event_id TEXT
) STRICT;

CREATE INDEX approvals_by_environment ON approvals (environment_id, approval_id);
CREATE INDEX approvals_by_status ON approvals (environment_id, status, approval_id);
CREATE INDEX approvals_by_run ON approvals (environment_id, run_id) WHERE run_id IS NOT NULL;
CREATE INDEX approvals_by_run_no ON approvals (run_no) WHERE run_no IS NOT NULL;
CREATE INDEX approvals_by_end ON approvals (coalesce(ended_at, expires_at));
-- A signal has at most one approval at a time.
CREATE UNIQUE INDEX approvals_pending ON approvals (environment_id, wait_name) WHERE is_pending = 1;

-- Events that have not ended all of their waits yet: those up to `after_wait_no` have been examined.
CREATE TABLE resumptions (
  environment_id INTEGER NOT NULL,
  event_name     TEXT NOT NULL,
  event_no       INTEGER NOT NULL,
  after_wait_no  INTEGER NOT NULL,
  PRIMARY KEY (environment_id, event_name, event_no)
) STRICT, WITHOUT ROWID;

-- The state of rate limits, throttles, debounces, batches and singletons.
CREATE TABLE marks (
  function_no INTEGER NOT NULL,
  kind        TEXT NOT NULL,
  key         TEXT NOT NULL,
  value       TEXT NOT NULL,
  expires_at  INTEGER NOT NULL,
  PRIMARY KEY (function_no, kind, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX marks_by_age ON marks (expires_at);

-- Slots of concurrency limits. `entry_no` is the call that holds one while it is leased; 0: the run holds it until it has ended.
CREATE TABLE limit_slots (
  limit_id TEXT NOT NULL,
  run_no   INTEGER NOT NULL,
  entry_no INTEGER NOT NULL,
  PRIMARY KEY (limit_id, run_no, entry_no)
) STRICT, WITHOUT ROWID;

CREATE INDEX limit_slots_by_run ON limit_slots (run_no, entry_no);

-- Runs of functions with an order, by key, until they are gone (store/orders/contract.ts). Positions are never reused.
CREATE TABLE ordered_runs (
  position       INTEGER PRIMARY KEY AUTOINCREMENT,
  environment_id INTEGER NOT NULL,
  function_no    INTEGER NOT NULL,
  key            TEXT NOT NULL,
  run_no         INTEGER NOT NULL,
  state          TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'leaving', 'held')),
  held_at        INTEGER
) STRICT;

CREATE INDEX ordered_runs_by_key ON ordered_runs (function_no, key, position);
CREATE INDEX ordered_runs_in_turn ON ordered_runs (function_no, key) WHERE state <> 'waiting';
CREATE INDEX ordered_runs_held ON ordered_runs (environment_id, position) WHERE state = 'held';
CREATE UNIQUE INDEX ordered_runs_by_run ON ordered_runs (run_no);

-- Every call of an app, for the analysis of runs. Retained as long as the run. The request is not stored again, and only the beginning
-- of the response. Appended to the end of one tree, which is cheaper than storing calls next to the run's steps.

CREATE TABLE calls (
  call_no       INTEGER PRIMARY KEY,
  run_no        INTEGER NOT NULL,
  step_id       TEXT,
  attempt       INTEGER NOT NULL,
  started_at    INTEGER NOT NULL,
  ended_at      INTEGER NOT NULL,
  http_status   INTEGER,
  is_error      INTEGER NOT NULL,
  path          TEXT NOT NULL,
  steps_given   INTEGER NOT NULL,
  answer        TEXT,
  answer_length INTEGER NOT NULL,
  -- JSON: the lines that the function logged during the call.
  logs          TEXT
) STRICT;

CREATE INDEX calls_by_run ON calls (run_no);

-- Runs of a function that are to be cancelled: those created in a time range, and that match an expression.
CREATE TABLE cancellations (
  environment_id  INTEGER NOT NULL,
  cancellation_id TEXT NOT NULL,
  function_id     TEXT NOT NULL,
  started_after   INTEGER,
  started_before  INTEGER NOT NULL,
  expression      TEXT,
  created_at      INTEGER NOT NULL,
  ended_at        INTEGER,
  PRIMARY KEY (environment_id, cancellation_id)
) STRICT, WITHOUT ROWID;

-- People signed in to the dashboard. Only their browser has the token itself.
CREATE TABLE sessions (
  session_id   TEXT PRIMARY KEY,
  hash         TEXT NOT NULL UNIQUE,
  key_id       TEXT,
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  ip           TEXT NOT NULL,
  user_agent   TEXT,
  person       TEXT
) STRICT;

-- Names as they were at the time, so that an entry is still readable when the key or webhook no longer exists.
CREATE TABLE audit_log (
  sequence    INTEGER PRIMARY KEY,
  at          INTEGER NOT NULL,
  actor_kind  TEXT NOT NULL,
  actor_id    TEXT NOT NULL,
  actor_name  TEXT NOT NULL,
  action      TEXT NOT NULL,
  target_kind TEXT NOT NULL,
  target_id   TEXT NOT NULL,
  target_name TEXT NOT NULL,
  environment TEXT,
  details     TEXT NOT NULL
) STRICT;

-- People and pipelines make a few changes per minute at most: other filters scan the index by time, and need none of their own. One action is
-- looked for at each start, and may be rare in a log that agents and attempts have filled.
CREATE INDEX audit_log_by_time ON audit_log (at);
CREATE INDEX audit_log_by_action ON audit_log (action, at);

-- Requests that created something, so that a client that lost the response can repeat them.
CREATE TABLE idempotency_keys (
  owner       TEXT NOT NULL,
  key         TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  started_at  INTEGER NOT NULL,
  status      INTEGER,
  body        TEXT,
  PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (started_at);

-- The times of the ids that a stored response names: an id begins with its time. An erasure finds by them which responses to look at.
CREATE TABLE idempotency_key_times (
  owner   TEXT NOT NULL,
  key     TEXT NOT NULL,
  id_time TEXT NOT NULL,
  PRIMARY KEY (owner, key, id_time),
  FOREIGN KEY (owner, key) REFERENCES idempotency_keys (owner, key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_key_times_by_time ON idempotency_key_times (id_time);

-- The figures of the overview. Stored as sums, because counting millions of events takes seconds, and apart from the events, so that
-- accepting an event costs nothing extra.
CREATE TABLE event_types (
  environment_id INTEGER NOT NULL,
  name_id        INTEGER NOT NULL,
  first_seen_at  INTEGER NOT NULL,
  last_seen_at   INTEGER NOT NULL,
  count          INTEGER NOT NULL,
  PRIMARY KEY (environment_id, name_id)
) STRICT, WITHOUT ROWID;

-- Settings of a name, whether or not such an event was ever seen.
CREATE TABLE event_type_settings (
  environment_id INTEGER NOT NULL REFERENCES environments (environment_id),
  name           TEXT NOT NULL,
  retention_ms   INTEGER,
  PRIMARY KEY (environment_id, name)
) STRICT, WITHOUT ROWID;

-- Declarations about events of a name: a JSON Schema of their data, and what happens to events that do not match it.
CREATE TABLE event_schemas (
  environment_id INTEGER NOT NULL REFERENCES environments (environment_id),
  name           TEXT NOT NULL,
  schema         TEXT,
  mode           TEXT NOT NULL CHECK (mode IN ('observe', 'warn', 'refuse')),
  description    TEXT,
  version        INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  faults         INTEGER NOT NULL,
  last_fault_at  INTEGER,
  PRIMARY KEY (environment_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_schema_versions (
  environment_id INTEGER NOT NULL,
  name           TEXT NOT NULL,
  version        INTEGER NOT NULL,
  schema         TEXT,
  created_at     INTEGER NOT NULL,
  PRIMARY KEY (environment_id, name, version)
) STRICT, WITHOUT ROWID;

-- Inferred shapes of events, as JSON, computed in the background.
CREATE TABLE event_shapes (
  environment_id INTEGER NOT NULL,
  name           TEXT NOT NULL,
  shape          TEXT NOT NULL,
  PRIMARY KEY (environment_id, name)
) STRICT, WITHOUT ROWID;

-- One row: the sequence number up to which events were examined for their shapes.
CREATE TABLE event_shapes_read (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  sequence INTEGER NOT NULL
) STRICT;
INSERT INTO event_shapes_read VALUES (1, 0);

-- `hour` is the number of hours since 1970.
CREATE TABLE event_type_hours (
  environment_id INTEGER NOT NULL,
  name_id        INTEGER NOT NULL,
  hour           INTEGER NOT NULL,
  count          INTEGER NOT NULL,
  PRIMARY KEY (environment_id, name_id, hour)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_type_hours_by_age ON event_type_hours (hour);

-- One row: the sequence number up to which events are included in these sums.
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

-- What an environment, and each of its keys, webhooks and functions, used in the hour that began `at`. The id of an environment's own row is ''.
CREATE TABLE usage_hours (
  environment_id INTEGER NOT NULL,
  kind           TEXT NOT NULL,
  at             INTEGER NOT NULL,
  subject        TEXT NOT NULL,
  accepted       INTEGER NOT NULL,
  duplicates     INTEGER NOT NULL,
  refused        INTEGER NOT NULL,
  bytes          INTEGER NOT NULL,
  runs           INTEGER NOT NULL,
  calls          INTEGER NOT NULL,
  transform_ms   INTEGER NOT NULL,
  PRIMARY KEY (environment_id, kind, at, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_hours_by_age ON usage_hours (at);

-- In which parts of the hour that began `at` a webhook, an event name or a function was active: bit n of `parts` stands for the nth part.
CREATE TABLE activity_hours (
  environment_id INTEGER NOT NULL,
  kind           TEXT NOT NULL,
  at             INTEGER NOT NULL,
  subject        TEXT NOT NULL,
  parts          INTEGER NOT NULL,
  last_at        INTEGER NOT NULL,
  PRIMARY KEY (environment_id, kind, at, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX activity_hours_by_subject ON activity_hours (environment_id, kind, subject, at);
CREATE INDEX activity_hours_by_age ON activity_hours (at);

-- Jobs, and the items of each: `items` is a JSON array of one page of the list, newest first, and `position` counts the items before it.
-- While `list_cursor` is set, pages follow. `done` is the cursor of the work, which begins at the last item.
CREATE TABLE jobs (
  job_id         TEXT PRIMARY KEY,
  environment_id INTEGER NOT NULL,
  kind           TEXT NOT NULL,
  filter         TEXT NOT NULL,
  function_id    TEXT,
  status         TEXT NOT NULL,
  total          INTEGER NOT NULL,
  done           INTEGER NOT NULL DEFAULT 0,
  failed         INTEGER NOT NULL DEFAULT 0,
  rate           INTEGER NOT NULL,
  list_cursor    TEXT,
  errors         TEXT NOT NULL DEFAULT '[]',
  report         TEXT,
  -- What came of the items processed so far, as JSON.
  tally          TEXT NOT NULL DEFAULT '{}',
  -- Jobs of one series are worked on one after the other.
  series         TEXT,
  -- Nobody asked for it: it came by itself.
  scheduled      INTEGER NOT NULL DEFAULT 0,
  created_at     INTEGER NOT NULL,
  started_at     INTEGER,
  ended_at       INTEGER,
  leased_by      TEXT,
  leased_until   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX jobs_by_environment ON jobs (environment_id, job_id);
CREATE INDEX jobs_asked_for ON jobs (environment_id, job_id) WHERE scheduled = 0;
CREATE INDEX jobs_open ON jobs (job_id) WHERE ended_at IS NULL;

CREATE TABLE job_items (
  job_id         TEXT NOT NULL,
  position       INTEGER NOT NULL,
  environment_id INTEGER NOT NULL,
  items          TEXT NOT NULL,
  PRIMARY KEY (job_id, position)
) STRICT, WITHOUT ROWID;

-- Passes over what providers list: what was there, and what had never been delivered. `job_id` is the job of the pass.
CREATE TABLE reconciliations (
  environment_id INTEGER NOT NULL,
  webhook_id     TEXT NOT NULL,
  job_id         TEXT NOT NULL,
  at             INTEGER NOT NULL,
  started_at     INTEGER NOT NULL,
  since_at       INTEGER NOT NULL,
  until_at       INTEGER NOT NULL,
  scheduled      INTEGER NOT NULL,
  listed         INTEGER NOT NULL,
  seen           INTEGER NOT NULL,
  recovered      INTEGER NOT NULL,
  failed         INTEGER NOT NULL,
  error          TEXT,
  PRIMARY KEY (environment_id, webhook_id, job_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reconciliations_by_age ON reconciliations (environment_id, at);

-- Realtime messages, numbered without gaps within an environment in the order of their commits. `bytes` is what one counts for.
CREATE TABLE realtime_messages (
  environment_id INTEGER NOT NULL,
  number         INTEGER NOT NULL,
  channel        TEXT NOT NULL,
  topic          TEXT NOT NULL,
  text           TEXT NOT NULL,
  bytes          INTEGER NOT NULL,
  run_id         TEXT,
  published_at   INTEGER NOT NULL,
  PRIMARY KEY (environment_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX realtime_messages_by_channel ON realtime_messages (environment_id, channel, number);
CREATE INDEX realtime_messages_by_run ON realtime_messages (environment_id, run_id) WHERE run_id IS NOT NULL;

-- The highest number given to a message: it stays when the messages go.
CREATE TABLE realtime_numbers (
  environment_id INTEGER PRIMARY KEY,
  last_number    INTEGER NOT NULL
) STRICT;

-- Events of webhooks that are still to be copied to branches: recorded in the transaction of the event, removed once the copies are stored.
CREATE TABLE pending_mirrors (
  environment_id INTEGER NOT NULL,
  event_id       TEXT NOT NULL,
  webhook_id     TEXT NOT NULL,
  targets        TEXT NOT NULL,
  PRIMARY KEY (environment_id, event_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX pending_mirrors_by_event ON pending_mirrors (event_id, environment_id);

-- What people decided about groups of failed runs. The key is a hash of the function and the pattern of the error.
CREATE TABLE failure_states (
  environment_id INTEGER NOT NULL,
  failure_key    TEXT NOT NULL,
  decision       TEXT NOT NULL,
  decided_at     INTEGER NOT NULL,
  decided_by     TEXT NOT NULL,
  PRIMARY KEY (environment_id, failure_key)
) STRICT, WITHOUT ROWID;

-- Filters of lists that people saved under a name.
CREATE TABLE saved_filters (
  environment_id INTEGER NOT NULL,
  list           TEXT NOT NULL,
  name           TEXT NOT NULL,
  search         TEXT NOT NULL,
  saved_by       TEXT NOT NULL,
  saved_at       INTEGER NOT NULL,
  PRIMARY KEY (environment_id, list, name)
) STRICT, WITHOUT ROWID;

-- Rules of alerts, and whether each is raised. `changes` counts how often it was raised or resolved.
CREATE TABLE alert_rules (
  environment_id INTEGER NOT NULL,
  rule_id        TEXT NOT NULL,
  name           TEXT NOT NULL,
  kind           TEXT NOT NULL,
  function_id    TEXT,
  webhook_id     TEXT,
  event_name     TEXT,
  threshold      REAL,
  window_ms      INTEGER,
  quiet_hours    TEXT,
  enabled        INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  raised_at      INTEGER,
  last_raised_at INTEGER,
  value          REAL,
  changes        INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (environment_id, rule_id)
) STRICT, WITHOUT ROWID;
