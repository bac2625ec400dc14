/**
 * A clock for the service that stands a second before a full minute until it is let go: a schedule is then due a second later. It stands again
 * before the next full minute: however long a test takes, one tick comes.
 */

const MINUTE_MS = 60_000;

export interface HeldClock {
  now(): number;
  go(): void;
}

export function clockBeforeMinute(): HeldClock {
  const heldAt = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS - 1_000;
  let goneAt: number | null = null;
  return {
    now: () => heldAt + (goneAt === null ? 0 : Math.min(Date.now() - goneAt, MINUTE_MS - 1)),
    go() {
      goneAt ??= Date.now();
    },
  };
}
