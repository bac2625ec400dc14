-- Webhook consumers: their URLs, every version of their transforms, and a record of every request they were sent.

CREATE TABLE webhooks (
  webhook_id     TEXT PRIMARY KEY,
  environment_id INTEGER NOT NULL REFERENCES environments (environment_id),
  name           TEXT NOT NULL,
  version        INTEGER NOT NULL,
  event_names    TEXT,
  ips            TEXT,
  enabled        INTEGER NOT NULL,
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL,
  deleted_at     INTEGER
) STRICT;

-- Tokens are never forgotten: one that was rotated away must not pass for an unknown key, nor be given out again.
-- They are kept as they are, because people must be able to read the URL again.
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
  PRIMARY KEY (webhook_id, version)
) STRICT, WITHOUT ROWID;

-- `environment_id` is the webhook's own, which leads the key; `delivered_to` is where the event went, the branch for instance.
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
  logs              TEXT NOT NULL
) STRICT;

CREATE INDEX webhook_requests_by_time ON webhook_requests (environment_id, webhook_id, received_at);
CREATE UNIQUE INDEX webhook_requests_by_id ON webhook_requests (environment_id, webhook_id, request_id);
