/**
 * Keeps the order of starts of one function on this node: each is prepared at once and submitted after all that came before it. Events
 * that were accepted one after the other therefore count in this order, whatever their rules read first.
 */

import type { FunctionNo } from "@inlet/protocol";

export class StartOrder {
  /** By function: resolves when the last start was submitted, or will not be. */
  readonly #last = new Map<FunctionNo, Promise<void>>();

  /** The order is that of the calls. `submit` hands over what it is given before it returns. */
  async pass<Prepared, Result>(
    functionNo: FunctionNo,
    prepare: () => Promise<Prepared>,
    submit: (prepared: Prepared) => Promise<Result>,
  ): Promise<Result> {
    const before = this.#last.get(functionNo);
    const own = Promise.withResolvers<void>();
    const last = Promise.all([before, own.promise]).then(() => {
      if (this.#last.get(functionNo) === last) this.#last.delete(functionNo);
    });
    this.#last.set(functionNo, last);
    try {
      const prepared = await prepare();
      await before;
      const submitted = submit(prepared);
      own.resolve();
      return await submitted;
    } finally {
      own.resolve();
    }
  }
}
