/** Which seeds are played. The tests take theirs from the day, so that every day tries others; a failing one is printed and can be repeated. */

const DAY_MS = 86_400_000;
const SEEDS_A_DAY = 10_000;
/** Scenarios are named after their seed: this keeps the numbers short. */
const SEEDS_MAX = 2_000_000_000;

/** The first seed of a day. */
export function seedOfDay(now: number): number {
  return (Math.floor(now / DAY_MS) * SEEDS_A_DAY) % SEEDS_MAX;
}

/** The first of a range that nobody has played. */
export function unseenSeed(): number {
  return Math.floor(Math.random() * (SEEDS_MAX / SEEDS_A_DAY)) * SEEDS_A_DAY;
}
