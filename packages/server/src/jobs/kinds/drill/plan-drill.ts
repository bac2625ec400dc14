/**
 * The requests of a drill, in the order in which they are sent. A sample that was not sent before is sent once before its copies, so
 * that each kind can be asked for alone.
 */

import { DRILL_KINDS, type DrillKind } from "@inlet/protocol";

export interface PlannedRequest {
  kind: DrillKind;
  /** The key of the sample. */
  sample: string;
}

export function planDrill(kinds: readonly DrillKind[], samples: readonly string[]): PlannedRequest[] {
  const sent = new Set<string>();
  return DRILL_KINDS.filter((kind) => kinds.includes(kind)).flatMap((kind) => {
    const order = kind === "disorder" ? samples.toReversed() : samples;
    return order.flatMap((sample) => {
      const times = (kind === "duplicates" || kind === "retries") && !sent.has(sample) ? 2 : 1;
      if (isToBeAccepted(kind)) sent.add(sample);
      return Array.from({ length: times }, () => ({ kind, sample }));
    });
  });
}

/** A request of this kind should become an event, or be a duplicate of one. */
export function isToBeAccepted(kind: DrillKind): boolean {
  return kind !== "forged" && kind !== "malformed";
}
