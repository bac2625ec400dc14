-- Who may do what: API keys limited to some environments, and people signed in.

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
