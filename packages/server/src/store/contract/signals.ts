/**
 * Signals: one run waits for a signal of a name, and whoever sends it resumes that run. Nothing is kept of a signal that nobody waits for.
 * Like an event, a signal changes no run by itself: it makes the entry due of the step that waits, with what was sent.
 */

import type { EnvironmentId, RunId } from "@inlet/protocol";
import type { ClaimedEntry, Lease } from "./queue.ts";

export const SIGNAL_UNITS_MAX = 256;

/** Under which event name a wait for a signal is stored. No event has such a name: control characters are refused. */
export function signalEventName(signal: string): string {
  return `\u0001${signal}`;
}

export interface SignalSendParams {
  environmentId: EnvironmentId;
  signal: string;
  /** JSON text that the step is given. */
  value: string;
  now: number;
  lease: Lease;
}

export interface SignalStore {
  /** The run that waited for the signal; null when none did. A wait gets one signal: the first. */
  signalSend(params: SignalSendParams): Promise<{ runId: RunId | null; leased: ClaimedEntry[] }>;
}
