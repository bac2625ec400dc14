/** Tests that share one service: a start costs more than most tests. Each looks at what it has made itself, whatever the others have left. */

import type { TestContext } from "node:test";
import type { StoreKind } from "./both-stores.ts";
import { startTestService, type TestService, type TestServiceOptions } from "./service.ts";

export type Cases = Readonly<Record<string, (service: TestService, t: TestContext) => Promise<void>>>;

/** The body of a `test` that starts a service, and runs each case as a test of its own. */
export function onOneService(cases: Cases, options: TestServiceOptions = {}): (t: TestContext, store: StoreKind) => Promise<void> {
  return async (t) => {
    const service = await startTestService(t, options);
    for (const [name, run] of Object.entries(cases)) await t.test(name, (each) => run(service, each));
  };
}
