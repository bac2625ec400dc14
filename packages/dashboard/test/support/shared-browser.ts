/** One browser for all cases of a file, because starting one is slow. */

import { after, before, describe } from "node:test";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./browser.ts";

export type Cases = (browser: () => Browser) => void;

export function describeCases(title: string, cases: readonly Cases[]): void {
  describe(title, () => {
    let browser: Browser;
    before(async () => {
      browser = await launchBrowser();
    });
    after(() => browser?.close());
    for (const add of cases) add(() => browser);
  });
}
