/** The status of read replicas, as a node sees them. */

export const REPLICA_STATES = ["used", "behind", "unreachable", "refused"] as const;

export interface ReplicaReport {
  /**
   * `used`: it answers reads for people. `behind`: it lacks what was committed a moment ago. `refused`: it is no replica of this database.
   * Unless it is used, the primary answers them.
   */
  state: (typeof REPLICA_STATES)[number];
  /** Why it is not used, a sentence for people; null while it is. */
  reason: string | null;
  /** How far it is behind the primary; null if that is not known. */
  lagMs: number | null;
  /** Reads for people since the start of this node, by the server that answered them. */
  reads: { replica: number; primary: number };
}

export interface NamedReplicaReport extends ReplicaReport {
  /** The name of the database that it is a replica of. */
  database: string;
}

interface Replicated {
  storeDatabases(): readonly { name: string; store: { storeReplica(): ReplicaReport | null } }[];
}

/** Those of all databases of a store that have one. */
export function replicaReports(store: Replicated): NamedReplicaReport[] {
  return store.storeDatabases().flatMap(({ name: database, store: own }) => {
    const report = own.storeReplica();
    return report ? [{ database, ...report }] : [];
  });
}
