/**
 * A run is superseded once it was repeated: by a later run with the same original. A rerun of a rerun has the original of both, so the
 * last run of a chain is the only one that is not superseded.
 */

/** Over a row of `runs`. */
export const IS_RERUN = `EXISTS (
  SELECT 1 FROM runs AS later WHERE later.environment_id = runs.environment_id
    AND later.original_run_id = coalesce(runs.original_run_id, runs.run_id) AND later.run_id > runs.run_id)`;

/** The original of a run and of all its reruns. */
export function originalOf({ run_id, original_run_id }: { run_id: string; original_run_id: string | null }): string {
  return original_run_id ?? run_id;
}
