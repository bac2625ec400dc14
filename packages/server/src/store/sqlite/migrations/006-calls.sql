-- Every call of an app, as people look for it when a run puzzles them. `call_no` counts the calls of a run. Beside the steps, and
-- kept as long as the run; what was sent is not kept again, and of the answer only how it begins.

CREATE TABLE calls (
  run_no        INTEGER NOT NULL,
  call_no       INTEGER NOT NULL,
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
  PRIMARY KEY (run_no, call_no)
) STRICT, WITHOUT ROWID;
