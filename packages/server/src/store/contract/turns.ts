/** Turns at work that one node of a cluster does at a time. */

export interface TurnStore {
  /** Takes the turn until then, or prolongs it; says whether the node has it. While it has, no other node can. */
  turnTake(params: { work: string; node: string; now: number; until: number }): Promise<boolean>;
  turnGive(params: { work: string; node: string }): Promise<void>;
}
