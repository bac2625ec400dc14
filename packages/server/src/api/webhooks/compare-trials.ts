/** What two versions of a transform made of the same request, compared. */

import { jsonDiff } from "./json-diff.ts";

export interface TrialResult {
  eventJson?: string;
  handshake?: object;
  verification?: { ok: boolean };
  error?: { code: string; message: string; line?: number; column?: number };
  logs: string[];
  durationMs: number;
}

export type Change = "same" | "different" | "now_fails" | "now_works" | "still_fails";

export function compareTrials(before: TrialResult, after: TrialResult) {
  const [was, is] = [before, after].map(({ eventJson }) => (eventJson === undefined ? undefined : JSON.parse(eventJson)));
  const differences = was !== undefined && is !== undefined ? jsonDiff(was, is) : [];
  const change: Change = before.handshake && after.handshake ? "same" : changeOf(was, is, differences.length);
  return { change, before: side(was, before), after: side(is, after), diff: differences };
}

function side(event: unknown, { error, handshake, verification }: TrialResult) {
  const verified = verification && { verification };
  if (handshake) return { handshake };
  return error ? { error, ...verified } : { event, ...verified };
}

function changeOf(was: unknown, is: unknown, differences: number): Change {
  if (is === undefined) return was === undefined ? "still_fails" : "now_fails";
  if (was === undefined) return "now_works";
  return differences === 0 ? "same" : "different";
}
