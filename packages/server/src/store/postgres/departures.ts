/**
 * When groups set out for PostgreSQL. What was received together sets out together. While one group is under way the next one gathers,
 * and sets out when it holds as much as the first, or has waited for a while: a small one costs nearly as much as a large one.
 */

/** While one group is being committed, the next is on its way. More at once only make the groups smaller. */
const GROUPS_AT_ONCE = 2;
const PATIENCE_MS = 5;

export interface DeparturesParts {
  /** How many rows wait. */
  waiting(): number;
  /** Sends a group off. Null: of what waits, nothing can go now. */
  depart(): { rows: number; arrived: Promise<void> } | null;
}

export class Departures {
  readonly #parts: DeparturesParts;
  /** Rows of each group under way. */
  readonly #underWay: number[] = [];
  #isScheduled = false;
  #impatience: NodeJS.Timeout | null = null;
  #whenIdle: (() => void) | null = null;

  constructor(parts: DeparturesParts) {
    this.#parts = parts;
  }

  /** Resolves when nothing waits, and nothing is under way. */
  async idle(): Promise<void> {
    if (!this.#isIdle()) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  /** To be called whenever something more waits. */
  schedule(): void {
    const rows = this.#parts.waiting();
    if (this.#isScheduled || rows === 0 || this.#underWay.length >= GROUPS_AT_ONCE) return;
    if (!this.#underWay.every((others) => rows >= others)) {
      this.#impatience ??= setTimeout(() => this.#depart(), PATIENCE_MS);
      return;
    }
    this.#isScheduled = true;
    setImmediate(() => this.#depart());
  }

  #depart(): void {
    if (this.#impatience) clearTimeout(this.#impatience);
    this.#impatience = null;
    this.#isScheduled = false;
    const group = this.#parts.waiting() > 0 && this.#underWay.length < GROUPS_AT_ONCE ? this.#parts.depart() : null;
    if (!group) return;
    this.#underWay.push(group.rows);
    void group.arrived.finally(() => {
      this.#underWay.splice(this.#underWay.indexOf(group.rows), 1);
      this.schedule();
      if (this.#isIdle()) this.#whenIdle?.();
    });
    this.schedule();
  }

  #isIdle(): boolean {
    return this.#underWay.length === 0 && this.#parts.waiting() === 0;
  }
}
