/** What the pages of a test share: cookies, storage, language and size. */

import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";

export const VIEWPORT = { width: 1280, height: 800 };
/** How long a page may take to show the expected content on a busy machine. */
const PATIENCE_MS = 300_000;

/** Without animations, which take most of the time of a machine that has to draw them itself. */
export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({
    locale: "en-GB",
    viewport: VIEWPORT,
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}
