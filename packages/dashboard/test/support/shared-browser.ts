/** One browser for all tests of a process, because starting one is slow. Each page has a context of its own. */

import { after, before, describe } from "node:test";
import type { Browser } from "playwright-core";
import { launchBrowser } from "./browser.ts";

let launched: Promise<Browser> | null = null;
after(async () => (await launched)?.close());

/** Is closed when all tests of the process have ended. */
export function sharedBrowser(): Promise<Browser> {
  launched ??= launchBrowser();
  return launched;
}

export type Cases = (browser: () => Browser) => void;

export function describeCases(title: string, cases: readonly Cases[]): void {
  describe(title, () => {
    let browser: Browser;
    before(async () => {
      browser = await sharedBrowser();
    });
    for (const add of cases) add(() => browser);
  });
}
