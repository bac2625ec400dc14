/**
 * Real Chromium, from npm. An uncaught error, a console error or a violation of the content policy
 * fails the test that opened the page.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContext, type BrowserContextOptions, type Page, chromium as playwright } from "playwright-core";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { chromiumPath } from "./chromium.ts";

/** Nothing listens where pages look for a dev server, whatever else runs on this machine. */
const WITHOUT_DEV_SERVER = "--host-resolver-rules=MAP localhost:8288 127.0.0.1:1";
/** Not the package's own arguments: they disable web security, which these tests rely on. */
const ARGUMENTS = [
  WITHOUT_DEV_SERVER,
  "--no-sandbox",
  // Without it, run-tests.ts would not see the CPU time of pages.
  "--no-zygote",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--font-render-hinting=none",
  // The rest saves CPU time. The empty page of a new tab and the page that is opened in it share a process; contexts and sites never do.
  "--renderer-process-limit=1",
  "--in-process-gpu",
  // Pages of tests end before optimized code has paid for itself.
  "--js-flags=--no-opt",
];

/** How long a page may take to show the expected content on a busy machine. */
const PATIENCE_MS = 300_000;

/** SLOW_RESPONSES=1 finds tests that do not wait for what the page waits for. */
const SLOW_MS = { min: 50, max: 500 };

/** Chromium sometimes crashes while it starts, before any page is opened: then another is started. */
const LAUNCHES_MAX = 3;

export async function launchBrowser(): Promise<Browser> {
  const executablePath = await chromiumPath();
  if (executablePath === null) return playwright.launch({ channel: "chrome", args: [WITHOUT_DEV_SERVER], headless: true });
  for (let launch = 1; launch < LAUNCHES_MAX; launch++) {
    try {
      return await playwright.launch({ executablePath, args: ARGUMENTS, headless: true });
    } catch {
      // The last one says why.
    }
  }
  return playwright.launch({ executablePath, args: ARGUMENTS, headless: true });
}

export interface PageOptions extends BrowserContextOptions {
  /** Expected console messages, such as refused requests. */
  allow?: RegExp;
  /** The language that the browser reports, valid or not. */
  language?: string;
}

/** A page in a new context: no cookies, no storage. */
export async function openPage(t: TestContext, browser: Browser, address: string, options: PageOptions = {}): Promise<Page> {
  const { allow, language, ...contextOptions } = options;
  const context = await newContext(browser, contextOptions);
  onEnd(t, () => context.close());
  if (language) await context.addInitScript(`Object.defineProperty(Navigator.prototype, "language", { get: () => "${language}" })`);
  const page = await context.newPage();
  if (process.env.SLOW_RESPONSES) await delayResponses(page);
  const complaints = collectComplaints(page, allow);
  onEnd(t, () => assert.deepEqual(complaints, [], "the page reported errors"));
  await page.goto(address);
  return page;
}

/**
 * Goes to another page of the dashboard that is open, which costs a tenth of loading it. Returns when that page is shown. What was loaded
 * before is shown at first, as for a user who clicks: wait for what is new. That every page can be loaded is tested by accessibility.test.ts.
 */
export async function visit(page: Page, path: string): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const router = window.__TSR_ROUTER__;
    const stop = router.subscribe("onRendered", () => {
      stop();
      done();
    });
    router.history.push(${JSON.stringify(path)});
  })`);
}

/** Without animations, which take most of the time of a machine that has to draw them itself. */
export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({
    locale: "en-GB",
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** Each by another time, so that responses also arrive in another order. */
async function delayResponses(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on("Fetch.requestPaused", ({ requestId }) => {
    const delayMs = SLOW_MS.min + Math.random() * (SLOW_MS.max - SLOW_MS.min);
    setTimeout(() => session.send("Fetch.continueRequest", { requestId }).catch(() => {}), delayMs);
  });
  const requestStage = "Response" as const;
  await session.send("Fetch.enable", { patterns: ["*/v1/*", "*/assets/*"].map((urlPattern) => ({ urlPattern, requestStage })) });
}

function collectComplaints(page: Page, allow: RegExp | undefined): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && !allow?.test(text)) complaints.push(text);
  });
  page.on("dialog", (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return complaints;
}
