-- The first schema: what is needed to accept an event, recognise it when it comes again, and find it later.
-- The environment leads every key, as on the sharded engines this contract is meant to fit as well.

CREATE TABLE environments (
  environment_id INTEGER PRIMARY KEY,
  name           TEXT NOT NULL UNIQUE,
  kind           TEXT NOT NULL CHECK (kind IN ('default', 'custom', 'branch', 'shared')),
  created_at     INTEGER NOT NULL,
  archived_at    INTEGER,
  body_bytes_max INTEGER
) STRICT;

-- Keys are recognised by their hash. Only signing keys keep their text: signing needs it.
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
  ips            TEXT,
  created_at     INTEGER NOT NULL,
  revoked_at     INTEGER,
  UNIQUE (kind, hash),
  CHECK ((kind = 'event') = (environment_id IS NOT NULL)),
  CHECK ((kind = 'signing') = (secret IS NOT NULL)),
  CHECK ((kind = 'api') = (role IS NOT NULL))
) STRICT;

-- Names and sources repeat in nearly every event. As numbers they make an event a quarter cheaper to store, because the rows
-- and above all the keys of the indexes are smaller.
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

-- `sequence` is the rowid: appending to the end of one tree, and an order of commits that live tails can follow.
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
  extras         TEXT,
  data           TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX events_by_id ON events (environment_id, event_id);
CREATE INDEX events_by_time ON events (environment_id, received_at);
CREATE INDEX events_by_name ON events (environment_id, name_id, received_at);
CREATE INDEX events_by_dedup_id ON events (environment_id, dedup_id, received_at) WHERE dedup_id IS NOT NULL;

-- Apart from events, so that the guard expires by its own window and not with the payloads.
CREATE TABLE dedup_keys (
  environment_id INTEGER NOT NULL,
  dedup_id       TEXT NOT NULL,
  event_id       TEXT NOT NULL,
  first_seen_at  INTEGER NOT NULL,
  PRIMARY KEY (environment_id, dedup_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX dedup_keys_by_age ON dedup_keys (environment_id, first_seen_at);

-- One row, written to find out whether writing works.
CREATE TABLE probe (
  only_row   INTEGER PRIMARY KEY CHECK (only_row = 1),
  written_at INTEGER NOT NULL
) STRICT;
INSERT INTO probe VALUES (1, 0);
