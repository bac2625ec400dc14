/** The promise that the code receives for a step. It knows whether the code ever awaited it. */

export class StepPromise extends Promise<unknown> {
  /** By `await`, `then`, `catch`, `finally`, or as a part of `Promise.all`, `Promise.race` and the like: each calls `then`. */
  isAwaited = false;

  /** `then` returns plain promises. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise that observes its own use
  override then<Done = unknown, Failed = never>(
    onResolve?: ((value: unknown) => Done | PromiseLike<Done>) | null,
    onReject?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    this.isAwaited = true;
    return super.then(onResolve, onReject);
  }

  /** A rejection that the code does not wait for, for example after a race, does not crash the process. */
  ignoreRejection(): void {
    super.then(undefined, () => {});
  }
}

/**
 * How many turns of the microtask queue pass between the settlement of a step and the code after its `await`. For a promise with its own
 * `then`, JavaScript calls `then` in a turn, resolves the awaited promise in the next, and continues the code in a third.
 */
export const TURNS_UNTIL_CODE = 3;

export interface SettleableStep {
  promise: StepPromise;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Like Promise.withResolvers, which Node has since 22. */
export function settleableStep(): SettleableStep {
  let resolve: SettleableStep["resolve"] = () => {};
  let reject: SettleableStep["reject"] = () => {};
  const promise = new StepPromise((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
