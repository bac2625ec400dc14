/**
 * The promise a step hands to the function's code. It notes who listens, because that tells a `Promise.all` apart from
 * everything else: `Promise.all` gives each of its promises its own resolver and all of them the same rejecter.
 * Steps of a `Promise.all` need one call when the last has ended; others (a race, chains) need one after each.
 */

type Listener = ((value: never) => unknown) | null | undefined;

export class StepPromise<T> extends Promise<T> {
  listeners: { onFulfilled: Listener; onRejected: Listener }[] = [];

  /** Promises derived from this one are ordinary. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise has one; `await` and `Promise.all` pass through here
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.listeners.push({ onFulfilled, onRejected });
    return super.then(onFulfilled, onRejected);
  }
}

/** Whether exactly one `Promise.all` listens to all of these, and nobody else to any. */
export function areAwaitedTogether(promises: readonly StepPromise<unknown>[]): boolean {
  const listeners = promises.map((promise) => (promise.listeners.length === 1 ? promise.listeners[0] : undefined));
  const reject = listeners[0]?.onRejected;
  if (!reject) return false;
  const resolvers = new Set(listeners.map((listener) => listener?.onFulfilled));
  return listeners.every((listener) => listener?.onRejected === reject) && resolvers.size === promises.length;
}
