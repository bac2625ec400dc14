/** For pages that poll: what they show is waited for, their intervals are not. Needs `page.clock.install()` before the page is opened. */

import type { Locator } from "playwright-core";
import { until } from "./until.ts";

/** As long as the longest interval at which pages poll. */
export const POLLED_WITHIN_MS = 10_000;
/** Time for the responses to the last poll. */
const ANSWERED_WITHIN_MS = 250;

export async function untilPolled(shown: Locator): Promise<void> {
  const { clock } = shown.page();
  await until(String(shown), async () => {
    if (await shown.isVisible()) return true;
    await clock.fastForward(POLLED_WITHIN_MS);
    return shown.waitFor({ timeout: ANSWERED_WITHIN_MS }).then(
      () => true,
      () => false,
    );
  });
}
