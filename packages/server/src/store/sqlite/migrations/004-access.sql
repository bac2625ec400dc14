-- Who may do what, and who did what: API keys limited to some environments, people signed in, the audit log.

-- A JSON array of names, or null for all of them. Names never change.
ALTER TABLE keys ADD COLUMN environments TEXT;

-- People signed in to the dashboard. The token itself is only in their browser.
CREATE TABLE sessions (
  session_id   TEXT PRIMARY KEY,
  hash         TEXT NOT NULL UNIQUE,
  key_id       TEXT,
  created_at   INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  ip           TEXT NOT NULL,
  user_agent   TEXT
) STRICT;

-- Names as they were when it happened, so that an entry still tells its story when key or webhook are gone.
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

-- People and pipelines change things a few times a minute at most: filters walk this index, and need none of their own.
CREATE INDEX audit_log_by_time ON audit_log (at);

-- Calls that created something, so that a client that lost the answer can ask again.
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
