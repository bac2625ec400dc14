/** Polls the state of something that runs in the service until it ends, also while the service restarts or has no room for requests. */

import { pause } from "./pause.ts";
import { isAway } from "./retry-while-away.ts";

/** A service that restarts is back sooner, and what runs there continues. */
const AWAY_MS_MAX = 60_000;

interface Following<State> {
  intervalMs: number;
  /** Ends what `read` waits for, too. */
  signal: AbortSignal;
  read(): Promise<State>;
  /** Called with every state, also again with one that was shown. */
  show(state: State): void;
  hasEnded(state: State): boolean;
  /** The service cannot be asked for now. Called once until it is back. */
  onAway(reason: string): void;
}

/** The final state, or the last one read before the user interrupted; null if there is none. The first read must succeed. */
export async function followState<State>(following: Following<State>): Promise<State | null> {
  const { intervalMs, signal, read, show, hasEnded, onAway } = following;
  let state: State | null = null;
  for (let awaySince: number | null = null; ; ) {
    try {
      state = await read();
      awaySince = null;
      show(state);
      if (hasEnded(state)) return state;
    } catch (error) {
      if (signal.aborted) return state;
      if (state === null || !isAway(error)) throw error;
      if (awaySince !== null && Date.now() - awaySince > AWAY_MS_MAX) throw error;
      if (awaySince === null) onAway(error.lines[0] ?? "");
      awaySince ??= Date.now();
    }
    await pause(intervalMs, signal);
    if (signal.aborted) return state;
  }
}
