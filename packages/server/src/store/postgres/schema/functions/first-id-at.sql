-- The lowest id that can be created at a given time: ids begin with the time (ULID).
CREATE OR REPLACE FUNCTION first_id_at(p_ms bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', ((p_ms >> (5 * n)) & 31)::integer + 1, 1), '' ORDER BY n DESC) || repeat('0', 16)
  FROM generate_series(0, 9) AS n
$$;
