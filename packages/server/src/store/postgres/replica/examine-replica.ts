/**
 * Whether a server is a replica of this database, and how far it has come. A server that follows another primary may have a log of the same
 * length: so it must also have the heartbeat of this node, which only this primary is sent.
 */

import type { Database } from "../database.ts";
import { COMMITTED, REPLAYED, TIMELINE } from "./replica-position.ts";

export interface Examined {
  /** Why it must not be used, a sentence for people; null: it may be. */
  refusal: string | null;
  /** Zero if it has everything; null if it cannot be told. */
  lagMs: number | null;
}

const IDENTITY = "system_identifier::text AS system, current_database() AS name";
const OF_PRIMARY = `
  SELECT ${IDENTITY}, ${COMMITTED} AS committed, ${TIMELINE} AS timeline, (SELECT last_seen_at FROM nodes WHERE node = $1) AS heartbeat FROM pg_control_system()`;
const OF_REPLICA = `
  SELECT ${IDENTITY}, pg_is_in_recovery() AS is_standby, ${REPLAYED} AS replayed,
    (extract(epoch FROM pg_last_xact_replay_timestamp()) * 1000)::bigint AS replayed_at
  FROM pg_control_system()`;

const UNKNOWN = "it does not say what it is";

interface PrimaryRow {
  system: string;
  name: string;
  committed: number;
  timeline: string | null;
  heartbeat: number | null;
}

interface Identity {
  system: string;
  name: string;
  is_standby: boolean;
}

interface ReplicaRow extends Identity {
  replayed: number | null;
  replayed_at: number | null;
}

/** Why a server is no replica of a database, a sentence for people; null: it may be one. Throws StoreUnavailable if either cannot be asked. */
export async function strangerReason(primary: Database, replica: Database): Promise<string | null> {
  const statement = `SELECT ${IDENTITY}, pg_is_in_recovery() AS is_standby FROM pg_control_system()`;
  const [[kept], [found]] = [await primary.query<Identity>(statement), await replica.query<Identity>(statement)];
  return kept && found ? strangerTo(kept, found) : UNKNOWN;
}

/** Throws StoreUnavailable if either cannot be asked. */
export async function examineReplica(primary: Database, replica: Database, node: string): Promise<Examined> {
  const [kept] = await primary.query<PrimaryRow>(OF_PRIMARY, [node], "read");
  const [found] = await replica.query<ReplicaRow>(OF_REPLICA, [kept?.timeline]);
  if (!kept || !found) return { refusal: UNKNOWN, lagMs: null };
  const refusal = strangerTo(kept, found);
  if (refusal !== null) return { refusal, lagMs: null };
  if (!found.is_standby && found.replayed === null) return { refusal: "it was promoted, and no longer follows the primary", lagMs: null };
  if ((found.replayed ?? 0) < kept.committed) {
    return { refusal: null, lagMs: found.replayed_at === null ? null : Math.max(0, primary.now() - found.replayed_at) };
  }
  const [beat] = await replica.query<{ heartbeat: number }>("SELECT last_seen_at AS heartbeat FROM nodes WHERE node = $1", [node]);
  const isMissing = kept.heartbeat !== null && (beat?.heartbeat ?? 0) < kept.heartbeat;
  return isMissing ? { refusal: "it lacks what this node wrote: it follows another primary", lagMs: null } : { refusal: null, lagMs: 0 };
}

function strangerTo(kept: Pick<Identity, "system" | "name">, found: Identity): string | null {
  if (found.system !== kept.system) return found.is_standby ? "it is a standby of another server" : "it is another server and no standby";
  return found.name === kept.name ? null : `its database is "${found.name}" and not "${kept.name}"`;
}
