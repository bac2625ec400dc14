-- Every call of an app, as people look for it when a run puzzles them. Kept as long as the run; what was sent is not kept again,
-- and of the answer only how it begins. Appended to the end of one tree: half the cost of standing beside the run's steps.

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
  answer_length INTEGER NOT NULL
) STRICT;

CREATE INDEX calls_by_run ON calls (run_no);
