-- Who may do what: API keys that are limited to some environments.

-- A JSON array of names, or null for all of them. Names never change.
ALTER TABLE keys ADD COLUMN environments TEXT;
