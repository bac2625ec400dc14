/** Repeats a request until the service responds, also while it restarts or has no room for requests. */

import { CommandFault } from "../command-line/command-fault.ts";
import { EXIT } from "../command-line/command-result.ts";
import { pause } from "./pause.ts";

interface Retrying {
  /** Ends what the request waits for, too. */
  signal: AbortSignal;
  /** Called once, before the first retry. */
  onAway(reason: string): void;
}

const WAIT_FIRST_MS = 200;
const WAIT_MAX_MS = 5_000;

/** Null if interrupted. */
export async function retryWhileAway<Value>(request: () => Promise<Value>, { signal, onAway }: Retrying): Promise<Value | null> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      return await request();
    } catch (error) {
      if (signal.aborted) return null;
      if (!isAway(error)) throw error;
      if (failures === 0) onAway(error.lines[0] ?? "");
    }
    await pause(Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** failures), signal);
  }
  return null;
}

/** The service cannot be asked for now. */
export function isAway(error: unknown): error is CommandFault {
  return error instanceof CommandFault && error.exitCode === EXIT.unreachable;
}
