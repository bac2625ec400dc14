-- Runs that hold a place among those of their function, where it limits how many runs there are at a time. Places of runs that
-- have ended are removed when the next one is given, or by the sweeper.
CREATE TABLE run_places (
  place  TEXT NOT NULL,
  run_no INTEGER NOT NULL,
  PRIMARY KEY (place, run_no)
) STRICT, WITHOUT ROWID;
