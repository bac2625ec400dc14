/** Functions as metric labels: the first 200 by their id, all others together as `other`, so that the number of series is bounded. */

import type { FunctionNo } from "@inlet/protocol";

const FUNCTIONS_MAX = 200;
export const OTHER_FUNCTIONS = "other";

export class FunctionLabels {
  readonly #functionId: (no: FunctionNo) => string;
  readonly #labels = new Map<FunctionNo, string>();
  readonly #ids = new Set<string>();

  constructor(functionId: (no: FunctionNo) => string) {
    this.#functionId = functionId;
  }

  labelOf(no: FunctionNo): string {
    const known = this.#labels.get(no);
    if (known !== undefined) return known;
    const id = this.#functionId(no);
    if (!this.#ids.has(id) && this.#ids.size >= FUNCTIONS_MAX) return OTHER_FUNCTIONS;
    this.#ids.add(id);
    this.#labels.set(no, id);
    return id;
  }
}
