/**
 * Thrown by a plan that needs something which was not read yet: it is read, and the plan is made anew.
 *
 * Plans are synchronous and write nothing but their own draft, so beginning again costs little; in return the rules of runs,
 * which are pure functions, need not know that this engine has to wait for its answers.
 */
export class NotRead extends Error {
  readonly read: () => Promise<void>;

  constructor(read: () => Promise<void>) {
    super("not read yet");
    this.read = read;
  }
}

/** For who may wait: reads what is missing, then asks again. */
export async function whenRead<Value>(ask: () => Value): Promise<Value> {
  for (;;) {
    try {
      return ask();
    } catch (error) {
      if (!(error instanceof NotRead)) throw error;
      await error.read();
    }
  }
}
