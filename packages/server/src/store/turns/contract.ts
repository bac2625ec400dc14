/** Turns: leases on background work that only one node of a cluster does at a time. */

export interface TurnStore {
  /** Takes or renews the turn until then. Returns whether the node has it. While it has it, no other node can. */
  turnTake(params: { work: string; node: string; now: number; until: number }): Promise<boolean>;
  turnGive(params: { work: string; node: string }): Promise<void>;
}
