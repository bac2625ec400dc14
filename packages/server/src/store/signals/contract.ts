/**
 * Signals: one run waits for a signal of a name, and sending the signal resumes that run. A signal that no run waits for is not stored.
 * Like an event, a signal changes no run by itself: it makes the entry of the waiting step due, together with the signal's data.
 */

import type { EnvironmentId, RunId } from "@inlet/protocol";
import type { ClaimedEntry, Lease } from "../queue/contract.ts";

export const SIGNAL_UNITS_MAX = 256;

/** The event name under which a wait for a signal is stored. No event has such a name: control characters are refused. */
export function signalEventName(signal: string): string {
  return `\u0001${signal}`;
}

export interface SignalSendParams {
  environmentId: EnvironmentId;
  signal: string;
  /** JSON text that the step receives. */
  value: string;
  now: number;
  lease: Lease;
}

export interface SignalStore {
  /** The run that waited for the signal; null if none did. A wait receives one signal: the first. */
  signalSend(params: SignalSendParams): Promise<{ runId: RunId | null; leased: ClaimedEntry[] }>;
}
