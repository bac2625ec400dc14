-- The nodes that share this database, which of their versions may, and how far a copy of an embedded store has come.

-- A program that knows schema `oldest_program` or a later one may work with this database, even if it is itself older than the
-- schema. A migration that only adds leaves the number alone; one that takes away what the last release still uses sets it.
-- Programs before this one refuse every schema they do not know.
ALTER TABLE schema_version ADD COLUMN oldest_program integer;
UPDATE schema_version SET oldest_program = version + 1;
ALTER TABLE schema_version ALTER COLUMN oldest_program SET NOT NULL;

-- `last_seen_at` is by the clock of this server. A node that stops takes its row away; one that died leaves it for a while.
CREATE TABLE nodes (
  node         text COLLATE "C" PRIMARY KEY,
  version      text NOT NULL,
  schema_known integer NOT NULL,
  started_at   bigint NOT NULL,
  last_seen_at bigint NOT NULL
);

-- Empty, unless an embedded store is being or was copied into this database. Until it is complete no node works here.
CREATE TABLE store_copy (
  only_row    integer PRIMARY KEY CHECK (only_row = 1),
  copy_id     text NOT NULL,
  began_at    bigint NOT NULL,
  finished_at bigint
);
-- Written with the rows themselves, in one transaction: so none is copied twice, and none is left out.
CREATE TABLE store_copy_tables (
  table_name text PRIMARY KEY,
  reached    text NOT NULL,
  rows       bigint NOT NULL,
  is_done    boolean NOT NULL
);
