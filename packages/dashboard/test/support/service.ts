/** A service of a test, at the same address in all tests of a process: what the browser has loaded and compiled from there is used again. */

import type { TestContext } from "node:test";
import { freePort } from "../../../server/test/support/free-port.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { startTestService as start, type TestService, type TestServiceOptions } from "../../../server/test/support/service.ts";

export type { TestService } from "../../../server/test/support/service.ts";
export { API_KEY, call, clientOf, temporaryFolder } from "../../../server/test/support/service.ts";

let port: Promise<number> | null = null;
let isTaken = false;

/** The second service of a test has any port. */
export async function startTestService(t: TestContext, options: TestServiceOptions = {}): Promise<TestService> {
  if (isTaken || options.port !== undefined) return start(t, options);
  isTaken = true;
  onEnd(t, () => {
    isTaken = false;
  });
  port ??= freePort();
  return start(t, { ...options, port: await port });
}
