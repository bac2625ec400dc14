/** Leadership: leases on background work that only one node of a cluster does at a time. */

export interface LeadershipStore {
  /** Takes or renews the leadership until then. Returns whether the node has it. While it has it, no other node can. */
  leadershipTake(params: { work: string; node: string; now: number; until: number }): Promise<boolean>;
  leadershipResign(params: { work: string; node: string }): Promise<void>;
}
