-- As in the embedded store: runs that hold a place among those of their function.
CREATE TABLE run_places (
  place  text NOT NULL,
  run_no bigint NOT NULL,
  PRIMARY KEY (place, run_no)
);
