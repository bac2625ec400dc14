-- Adds to what was used in an hour. Each connection adds to rows of its own: no transaction waits for another because of figures.
-- A function, because PostgreSQL plans its statement once per connection, and every group of events needs it.
CREATE OR REPLACE FUNCTION add_usage(p_hours json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO usage_hours AS u (
    environment_id, kind, at, subject, writer, accepted, duplicates, refused, bytes, runs, calls, transform_ms)
  SELECT
    h.environment_id, h.kind, h.at, h.subject, pg_backend_pid(), h.accepted, h.duplicates, h.refused, h.bytes, h.runs, h.calls, h.transform_ms
  FROM json_to_recordset(p_hours) AS h(
    environment_id integer, kind text, at bigint, subject text, accepted bigint, duplicates bigint, refused bigint, bytes bigint, runs bigint,
    calls bigint, transform_ms bigint)
  ON CONFLICT (environment_id, kind, at, subject, writer) DO UPDATE SET
    accepted = u.accepted + excluded.accepted,
    duplicates = u.duplicates + excluded.duplicates,
    refused = u.refused + excluded.refused,
    bytes = u.bytes + excluded.bytes,
    runs = u.runs + excluded.runs,
    calls = u.calls + excluded.calls,
    transform_ms = u.transform_ms + excluded.transform_ms;
END $$;
