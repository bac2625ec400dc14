-- Notes that a row of a partition changed after the archive began to read it. The partition is then read once more before it is dropped.
-- Rows are only added, so that transactions that change the same partition do not wait for each other.
CREATE OR REPLACE FUNCTION note_partition_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO partition_changes (kind, from_day) VALUES (TG_ARGV[0], TG_ARGV[1]::integer);
  RETURN NULL;
END
$$;
