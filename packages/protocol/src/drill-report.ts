/** The report of a drill: one entry for each request that it sent to a webhook. */

export const DRILL_KINDS = ["samples", "duplicates", "disorder", "retries", "forged", "malformed"] as const;
export type DrillKind = (typeof DRILL_KINDS)[number];

export interface DrillEntry {
  kind: DrillKind;
  sent: DrillRequest;
  expected: DrillOutcome;
  happened: DrillOutcome;
  /** What happened is what was expected. */
  ok: boolean;
  /** The functions that ran on the sample of this request. Empty until the job has ended, and for refused requests. */
  functions: readonly DrillFunction[];
}

export interface DrillRequest {
  /** The sample that it was made from, such as `Stripe: a payment succeeded`. */
  sample: string;
  /** 1: the first request of this drill that was made from the sample and should be accepted. */
  copy: number;
  contentType: string;
  bytes: number;
}

export interface DrillOutcome {
  status: number;
  /** New events. */
  events: number;
}

export interface DrillFunction {
  id: string;
  /** How often it ran for one event of the provider: more than once if its copies became events of their own. */
  runs: number;
  /** One of these runs failed. */
  failed: boolean;
}
