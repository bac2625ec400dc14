-- How far a table can be read in sequence order: no row up to this number is still uncommitted. A transaction that takes numbers of
-- the sequence first takes a shared lock (hold_sequence) that says "numbers above this one are being assigned" and is
-- released by the commit. A lock stores the low 31 bits of a number: the closest number to the last one is meant.
CREATE OR REPLACE FUNCTION settled_sequence(p_fence integer, p_sequence regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  last bigint := pg_sequence_last_value(p_sequence);
  settled bigint;
BEGIN
  SELECT min(last + ((objid::bigint - (last & 2147483647) + 3221225472) % 2147483648) - 1073741824) INTO settled
  FROM pg_locks
  WHERE locktype = 'advisory' AND classid = p_fence::oid AND objsubid = 2 AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database());
  RETURN least(last, settled);
END $$;
