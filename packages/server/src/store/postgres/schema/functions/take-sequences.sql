-- The next numbers of a sequence that is read in order. Two statements, because the lock must be held before the first number is
-- taken: a reader that then reads the last number finds the lock. See settled_sequence.
CREATE OR REPLACE FUNCTION take_sequences(p_fence integer, p_sequence regclass, p_count integer) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
BEGIN
  EXECUTE format('SELECT last_value FROM %s', p_sequence) INTO last;
  PERFORM pg_advisory_xact_lock_shared(p_fence, (last & 2147483647)::integer);
  RETURN (SELECT array_agg(nextval(p_sequence)) FROM generate_series(1, p_count));
END $$;
