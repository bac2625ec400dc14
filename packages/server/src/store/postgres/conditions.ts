/** The WHERE of a statement, put together from conditions whose values are written as `?`. */
export class Conditions {
  readonly values: unknown[] = [];
  readonly #conditions: string[] = [];

  add(condition: string, ...values: readonly unknown[]): void {
    let index = 0;
    this.#conditions.push(condition.replace(/\?/g, () => `$${this.values.push(values[index++])}`));
  }

  get text(): string {
    return this.#conditions.join(" AND ");
  }
}
