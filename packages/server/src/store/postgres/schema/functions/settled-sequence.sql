-- How far a table can be read in the order of its sequence: nothing up to here is still to be committed. Whoever takes numbers of
-- the sequence first takes a shared lock (take_sequences) that says "numbers above this one are being given out", and that
-- goes with the commit. A lock carries the low 31 bits of a number: the number meant is the nearest one to the last.
CREATE OR REPLACE FUNCTION settled_sequence(p_fence integer, p_sequence regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
  settled bigint;
BEGIN
  EXECUTE format('SELECT last_value FROM %s', p_sequence) INTO last;
  SELECT min(last + ((objid::bigint - (last & 2147483647) + 3221225472) % 2147483648) - 1073741824) INTO settled
  FROM pg_locks
  WHERE locktype = 'advisory' AND classid = p_fence::oid AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
  RETURN least(last, settled);
END $$;
