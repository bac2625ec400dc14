/**
 * How long an attack goes on and from which seed: a short while in `npm test`, as long as is asked for in `npm run attack`
 * (scripts/attack.ts). A seed is printed with every failure; the same seed makes the same attack.
 */

export interface AttackPlan {
  seed: number;
  /** It goes on for so long, and for so many rounds at least. */
  durationMs: number;
  roundsMin: number;
}

/** In `npm test`, which is to say the same of the same code each time. Its rounds hold one that was once answered with 500. */
const USUAL_SEED = 703_000;

export function attackPlan(roundsMin: number): AttackPlan {
  const { ATTACK_SEED, ATTACK_MS } = process.env;
  return { seed: Number(ATTACK_SEED ?? USUAL_SEED), durationMs: Number(ATTACK_MS ?? 0), roundsMin };
}

/** For a test that attacks by a plan: what it is asked for, and time to begin and end. */
export function attackTimeoutMs(): number {
  return Number(process.env.ATTACK_MS ?? 0) + 600_000;
}

/** Calls `attack` with a seed of its own for each round, and says which seed made it fail. */
export async function attackInRounds(plan: AttackPlan, attack: (random: Random, round: number) => Promise<void>): Promise<number> {
  const end = Date.now() + plan.durationMs;
  let round = 0;
  for (; round < plan.roundsMin || Date.now() < end; round++) {
    const seed = plan.seed + round;
    try {
      await attack(new Random(seed), round);
    } catch (error) {
      throw new Error(`failed with the seed ${seed} (ATTACK_SEED=${seed} makes this round the first)`, { cause: error });
    }
  }
  return round;
}

/** Numbers that look random and follow from the seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to and without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)] as Item;
  }
}
