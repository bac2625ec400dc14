/** Sets the metrics of read replicas. */

import type { NamedReplicaReport } from "../../store/contract/index.ts";
import type { Instruments } from "./instruments.ts";

export function setReplicas(instruments: Instruments, replicas: readonly NamedReplicaReport[]): void {
  const { replicaUsed, replicaReachable, replicaLag, replicaReads } = instruments;
  // The totals are counted elsewhere; a lag that is not known has no series.
  replicaReads.reset();
  replicaLag.reset();
  for (const { database, state, lagMs, reads } of replicas) {
    replicaUsed.labels(database).set(state === "used" ? 1 : 0);
    replicaReachable.labels(database).set(state === "unreachable" ? 0 : 1);
    if (lagMs !== null) replicaLag.labels(database).set(lagMs / 1_000);
    replicaReads.labels(database, "replica").inc(reads.replica);
    replicaReads.labels(database, "primary").inc(reads.primary);
  }
}
