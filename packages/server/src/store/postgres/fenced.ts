/**
 * Environments whose rows in this database are no work of its loops: they arrive here, are held until they have left, or have left
 * (store/moves). The condition is evaluated once for each statement; without a move the table is empty.
 */

const NOW = "extract(epoch FROM clock_timestamp()) * 1000";

/** A condition: the environment in this column is not fenced. */
export const notFenced = (column: string): string =>
  `${column} <> ALL (ARRAY(SELECT moving.environment_id FROM moving_environments AS moving WHERE moving.fenced_until > ${NOW}))`;

/** A condition: events in `events` that are counted, and examined, in this database. One that is held may stay: it is not passed over. */
export const COUNTED_HERE = `NOT EXISTS (
  SELECT FROM moving_environments AS moving
  WHERE moving.environment_id = events.environment_id
    AND (moving.role IN ('left', 'arriving') OR events.sequence <= moving.counted_until))`;
