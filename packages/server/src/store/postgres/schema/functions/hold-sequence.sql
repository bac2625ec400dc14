-- Announces that numbers of a sequence that is read in order are about to be taken. A statement of its own, because the lock must be held
-- before the first number is taken: a reader that then reads the last number finds the lock. See settled_sequence.
CREATE OR REPLACE FUNCTION hold_sequence(p_fence integer, p_sequence regclass) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock_shared(p_fence, (coalesce(pg_sequence_last_value(p_sequence), 0) & 2147483647)::integer)
$$;
