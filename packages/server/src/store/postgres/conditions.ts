/** Builds the WHERE clause of a statement from conditions whose values are written as `?`. */
export class Conditions {
  readonly values: unknown[];
  readonly #conditions: string[] = [];

  /** `values`: those that the statement has already, if it has several WHERE clauses. */
  constructor(values: unknown[] = []) {
    this.values = values;
  }

  /** A value that is used elsewhere in the statement: returns its `$n`. */
  bind(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  add(condition: string, ...values: readonly unknown[]): void {
    let index = 0;
    this.#conditions.push(condition.replace(/\?/g, () => this.bind(values[index++])));
  }

  get text(): string {
    return this.#conditions.join(" AND ");
  }
}
