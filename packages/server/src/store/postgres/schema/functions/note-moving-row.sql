-- A trigger on the tables of environments, which exists while an environment leaves this database (store/moves). It records the key of
-- each changed row of that environment, and refuses to write one that is held, or has left. The arguments are the name of the table,
-- which a partition does not have, and the columns of its key.
--
-- Every writer holds the lock of its environment shared. So whoever has recorded that an environment leaves, or is held, and then gets
-- the lock alone, knows that every later change is recorded, or refused.
CREATE OR REPLACE FUNCTION note_moving_row() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  written integer;
  moving record;
BEGIN
  IF TG_OP = 'DELETE' THEN written := OLD.environment_id; ELSE written := NEW.environment_id; END IF;
  -- Looked at twice: a writer that is refused does not wait for the lock, and one that got the lock sees what was recorded before.
  FOR n IN 1..2 LOOP
    SELECT * INTO moving FROM moving_environments WHERE environment_id = written AND role IN ('leaving', 'left');
    -- What an environment has left behind is removed row by row.
    IF moving.role = 'left' AND TG_OP = 'DELETE' THEN RETURN NULL; END IF;
    IF moving.fenced_until > extract(epoch FROM clock_timestamp()) * 1000 THEN
      RAISE EXCEPTION 'the environment is being moved to another database, or was moved' USING ERRCODE = 'IN001';
    END IF;
    IF n = 1 THEN PERFORM pg_advisory_xact_lock_shared(7268, written); END IF;
  END LOOP;
  IF moving.role IS DISTINCT FROM 'leaving' THEN RETURN NULL; END IF;
  IF TG_OP <> 'INSERT' THEN PERFORM note_moved_key(written, TG_ARGV, to_jsonb(OLD)); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM note_moved_key(written, TG_ARGV, to_jsonb(NEW)); END IF;
  RETURN NULL;
END $$;
