/** A position in a list that is ordered by the time received: everything older comes after it. */
export interface EventCursor {
  receivedAt: number;
  sequence: number;
}
