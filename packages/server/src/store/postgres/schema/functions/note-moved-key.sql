-- Records the key of a changed row: the table and the columns of the key are the arguments of its trigger (note_moving_row).
CREATE OR REPLACE FUNCTION note_moved_key(p_environment_id integer, p_arguments text[], p_row jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO moved_changes (environment_id, table_name, key)
  SELECT p_environment_id, p_arguments[0], coalesce(jsonb_agg(p_row -> part.name ORDER BY part.n), '[]')
  FROM unnest(p_arguments[1:]) WITH ORDINALITY AS part(name, n);
END $$;
