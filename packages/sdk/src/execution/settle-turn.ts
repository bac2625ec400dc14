/** Waits until the code has gone as far as it can: everything that depends only on settled promises has run. */

const TURNS = 100;

type Defer = (callback: () => void) => unknown;

const immediate = (globalThis as { setImmediate?: Defer }).setImmediate;

/** Without setImmediate, many turns of the microtask queue: a timer would cost a millisecond per step. */
export function afterTurn(callback: () => void): void {
  if (immediate) immediate(callback);
  else afterMicrotasks(TURNS, callback);
}

/** `callback` runs in the turn of that number, counted from 1. */
export function afterMicrotasks(turns: number, callback: () => void): void {
  queueMicrotask(turns === 1 ? callback : () => afterMicrotasks(turns - 1, callback));
}
