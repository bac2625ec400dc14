/**
 * Real Chromium, from npm. An uncaught error, a console error or a violation of the content policy
 * fails the test that opened the page.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from "playwright-core";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { chromiumPath } from "./chromium.ts";
import { newContext } from "./context.ts";
import { borrowTab } from "./shared-tab.ts";

/** Nothing listens where pages look for a dev server, whatever else runs on this machine. */
const WITHOUT_DEV_SERVER = "--host-resolver-rules=MAP localhost:8288 127.0.0.1:1";
/** Not the package's own arguments: they disable web security, which these tests rely on. */
const ARGUMENTS = [
  WITHOUT_DEV_SERVER,
  "--no-sandbox",
  "--no-zygote",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--font-render-hinting=none",
];

const EMPTY = "about:blank";

export async function launchBrowser(): Promise<Browser> {
  const executablePath = await chromiumPath();
  if (executablePath === null) return playwright.launch({ channel: "chrome", args: [WITHOUT_DEV_SERVER], headless: true });
  return playwright.launch({ executablePath, args: ARGUMENTS, headless: true });
}

export interface PageOptions extends BrowserContextOptions {
  /** Expected console messages, such as refused requests. */
  allow?: RegExp;
  /** The language that the browser reports, valid or not. */
  language?: string;
}

/**
 * A page without cookies and storage. It is the tab that tests of this process share, which keeps what it has compiled, unless that is in
 * use, or the test needs a context of its own: with options, or to be set up while the page is still empty (`about:blank`).
 */
export async function openPage(t: TestContext, browser: Browser, address: string, options: PageOptions = {}): Promise<Page> {
  const { allow, language, ...contextOptions } = options;
  const isPlain = address !== EMPTY && language === undefined && Object.keys(contextOptions).length === 0;
  const page = (isPlain && (await borrowTab(t, browser, address))) || (await newTab(t, browser, contextOptions, language));
  const complaints = collectComplaints(page, allow);
  onEnd(t, () => assert.deepEqual(complaints, [], "the page reported errors"));
  await page.goto(address);
  return page;
}

async function newTab(t: TestContext, browser: Browser, options: BrowserContextOptions, language: string | undefined): Promise<Page> {
  const context = await newContext(browser, options);
  onEnd(t, () => context.close());
  if (language) await context.addInitScript(`Object.defineProperty(Navigator.prototype, "language", { get: () => "${language}" })`);
  return context.newPage();
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
