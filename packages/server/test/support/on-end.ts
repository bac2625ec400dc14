/** Cleaning up after a test: what was set up last is taken down first, and one failure does not skip the rest. */

import type { TestContext } from "node:test";

type CleanUp = () => unknown;

const stacks = new WeakMap<TestContext, CleanUp[]>();

export function onEnd(t: TestContext, cleanUp: CleanUp): void {
  const known = stacks.get(t);
  if (known) return void known.push(cleanUp);
  const stack = [cleanUp];
  stacks.set(t, stack);
  t.after(() => unwind(stack));
}

async function unwind(stack: CleanUp[]): Promise<void> {
  const failures: unknown[] = [];
  for (let cleanUp = stack.pop(); cleanUp; cleanUp = stack.pop()) {
    try {
      await cleanUp();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "cleaning up failed");
}
