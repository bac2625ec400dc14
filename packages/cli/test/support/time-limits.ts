/** The time limits of requests in the process of the test: they end when the test says that so much time has passed. */

import type { TestContext } from "node:test";

export interface TimeLimits {
  pass(passedMs: number): void;
}

export function timeLimits(t: TestContext): TimeLimits {
  const limits: { ms: number; controller: AbortController }[] = [];
  t.mock.method(AbortSignal, "timeout", (ms: number) => {
    const controller = new AbortController();
    limits.push({ ms, controller });
    return controller.signal;
  });
  const over = () => new DOMException("The operation was aborted due to timeout", "TimeoutError");
  return {
    pass(passedMs) {
      for (const { ms, controller } of limits.splice(0)) if (ms <= passedMs) controller.abort(over());
    },
  };
}
