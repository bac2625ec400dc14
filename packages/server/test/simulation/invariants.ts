/**
 * What must hold in every transaction, as triggers inside the database that is simulated: a result and an end never change, and no entry
 * is leased twice. What breaks one of these is noted in the transaction that does.
 */

import { DatabaseSync } from "node:sqlite";
import { ERASED_FAILURE, ERASED_RESULT } from "../../src/store/erasure/policy.ts";

const rules = (isErased: string) => `
  CREATE TABLE IF NOT EXISTS simulation_faults (text TEXT NOT NULL) STRICT;
  CREATE TRIGGER IF NOT EXISTS simulation_step_is_final AFTER UPDATE ON steps
    WHEN OLD.ended_at IS NOT NULL AND (NEW.value IS NOT OLD.value OR NEW.status IS NOT OLD.status OR NEW.ended_at IS NOT OLD.ended_at) AND NOT (${isErased.replace("?", "NEW.value")})
    BEGIN INSERT INTO simulation_faults VALUES ('the result of step ' || OLD.name || ' of run no ' || OLD.run_no || ' was changed'); END;
  CREATE TRIGGER IF NOT EXISTS simulation_step_stays AFTER DELETE ON steps
    WHEN NOT EXISTS (SELECT 1 FROM runs WHERE run_no = OLD.run_no AND ended_at IS NOT NULL)
    BEGIN INSERT INTO simulation_faults VALUES ('step ' || OLD.name || ' of run no ' || OLD.run_no || ' was removed'); END;
  CREATE TRIGGER IF NOT EXISTS simulation_end_is_final AFTER UPDATE ON runs
    WHEN OLD.ended_at IS NOT NULL AND (NEW.status IS NOT OLD.status OR NEW.output IS NOT OLD.output OR NEW.ended_at IS NOT OLD.ended_at) AND NOT (${isErased.replace("?", "NEW.output")})
    BEGIN INSERT INTO simulation_faults VALUES ('the end of run no ' || OLD.run_no || ' was changed'); END;
  CREATE TRIGGER IF NOT EXISTS simulation_lease_is_sole AFTER UPDATE OF lease_id ON queue
    WHEN OLD.lease_id IS NOT NULL AND NEW.lease_id <> OLD.lease_id AND NEW.claims > OLD.claims
    BEGIN INSERT INTO simulation_faults VALUES ('entry ' || OLD.entry_no || ' (' || OLD.kind || ') was leased twice'); END;`;

/** What an erasure leaves of a result. */
const ERASED = [ERASED_RESULT, ERASED_FAILURE, "null"].map((text) => `'${text}'`).join(", ");

export function addInvariants(file: string, { isErasing }: { isErasing: boolean }): void {
  const db = new DatabaseSync(file);
  db.exec(rules(isErasing ? `? IN (${ERASED})` : "FALSE"));
  db.close();
}

export function brokenInvariants(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare("SELECT text FROM simulation_faults").all() as { text: string }[];
  db.close();
  return rows.map(({ text }) => text);
}
