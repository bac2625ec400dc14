-- Takes advisory locks until the end of the transaction, one after the other. A function, because PostgreSQL plans its statement once per
-- connection, and every group needs it.
CREATE OR REPLACE FUNCTION take_locks(p_locks bigint[], p_shared boolean[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM CASE WHEN l.is_shared THEN pg_advisory_xact_lock_shared(l.no) ELSE pg_advisory_xact_lock(l.no) END
  FROM unnest(p_locks, p_shared) AS l(no, is_shared);
END $$;
