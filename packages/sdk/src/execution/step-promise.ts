/**
 * The promise that a step returns to the function's code. It records its listeners, to distinguish a `Promise.all` from
 * everything else, based on the language specification: `Promise.all` reads a promise's constructor once and calls its `then`
 * once, with a separate resolver for each promise and the same rejecter for all. `await` only reads the constructor,
 * a race shares the resolver too. Steps of a `Promise.all` need one call when the last has ended; all others need one after
 * each, which is always correct, so unclear cases are treated that way.
 */

type Listener = ((value: never) => unknown) | null | undefined;

export interface Listening {
  constructorReads: number;
  thens: { onFulfilled: Listener; onRejected: Listener }[];
}

export interface StepPromise {
  promise: Promise<unknown>;
  listening: Listening;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

export function createStepPromise(): StepPromise {
  const listening: Listening = { constructorReads: 0, thens: [] };
  const { promise, resolve, reject } = withResolvers();
  Object.defineProperties(promise, {
    constructor: {
      get: () => {
        listening.constructorReads++;
        return Promise;
      },
    },
    // biome-ignore lint/suspicious/noThenProperty: a promise has one
    then: {
      value: (onFulfilled: Listener, onRejected: Listener) => {
        listening.thens.push({ onFulfilled, onRejected });
        const reads = listening.constructorReads;
        const derived = Promise.prototype.then.call(promise, onFulfilled as never, onRejected as never);
        listening.constructorReads = reads;
        return derived;
      },
    },
  });
  return { promise, listening, resolve, reject };
}

/** Whether exactly one `Promise.all` listens to all of these, and nothing else to any. */
export function areAwaitedTogether(all: readonly Listening[]): boolean {
  const reject = all[0]?.thens[0]?.onRejected;
  if (!reject) return false;
  const isSole = ({ constructorReads, thens }: Listening) =>
    constructorReads === 1 && thens.length === 1 && thens[0]?.onRejected === reject;
  return all.every(isSole) && new Set(all.map(({ thens }) => thens[0]?.onFulfilled)).size === all.length;
}

/** Promise.withResolvers, which Node has since 22. */
function withResolvers(): Pick<StepPromise, "promise" | "resolve" | "reject"> {
  let resolve: StepPromise["resolve"] = () => {};
  let reject: StepPromise["reject"] = () => {};
  const promise = new Promise<unknown>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}
