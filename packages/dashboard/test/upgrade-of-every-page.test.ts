/**
 * The service is killed and upgraded while pages are open, each in a tab of its own. Each page says that there is no connection, goes on
 * by itself, announces the new version, and loads it with the next navigation. EVERY_PAGE=1 opens every page, not only one of each kind.
 */

import assert from "node:assert/strict";
import { before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { freePort } from "../../server/test/support/free-port.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startInlet } from "../../server/test/support/process.ts";
import { clientOf, temporaryFolder } from "../../server/test/support/service.ts";
import { openPage } from "./support/browser.ts";
import { type DemoPage, startDemo } from "./support/demo.ts";
import { OTHER, writeOtherBuild } from "./support/other-build.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

const SERVE_DASHBOARD = fileURLToPath(new URL("../../server/test/support/serve-dashboard.ts", import.meta.url));
const DIST = fileURLToPath(new URL("../dist/", import.meta.url));

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

interface Tab extends DemoPage {
  page: Page;
}

/** One of each kind: charts, live lists, a list that polls, a timeline, a form, the editor, what is not there, and without a session. */
const OPENED: ReadonlySet<string> = new Set([
  ...["overview", "events", "run", "function", "failures", "webhook-new", "webhook-transform", "settings", "run-missing", "sign-in"],
]);

/** One tab for each page. Windows of one opener share a process, and what it has compiled. */
async function openTabs(t: TestContext, url: string, pages: readonly DemoPage[]): Promise<Tab[]> {
  const opener = await openPage(t, browser, url, { allow: /ERR_|404/ });
  await opener.getByRole("main").waitFor();
  const tabs: Tab[] = [];
  for (const demo of pages.filter(({ name }) => process.env.EVERY_PAGE || OPENED.has(name))) {
    const opened = opener.context().waitForEvent("page");
    await opener.evaluate(`void window.open(${JSON.stringify(demo.path)})`);
    tabs.push({ ...demo, page: await opened });
  }
  return tabs;
}

/** All pages, which are loaded in advance, and the editor where one is shown. */
const HAS_ALL_FILES = `["observe-pages", "build-pages", "manage-pages", "charts"].every((part) =>
  performance.getEntriesByType("resource").some(({ name, responseEnd }) => name.includes("/assets/" + part) && responseEnd > 0),
) && document.querySelector(".editor-loading") === null`;

/** A page that lacks a file when the service goes away loads the new version at once, and has nothing to announce. */
async function isLoaded(tab: Tab): Promise<void> {
  await shown(tab).waitFor();
  await until(`the files of ${tab.name}`, () => tab.page.evaluate(HAS_ALL_FILES));
}

const shown = ({ page, ready }: Tab) => page.getByText(ready).filter({ visible: true }).first();

/** A page asks now and then; the sign-in page asks when somebody signs in. */
async function saysItIsAway({ page, name }: Tab): Promise<void> {
  if (name === "sign-in") {
    await page.getByLabel("API key").fill("any");
    await page.getByRole("button", { name: "Sign in" }).click();
  }
  await page.getByRole("status").getByText("No connection to the service. It last responded").waitFor();
}

const FAILED = /could not be (?:loaded|displayed)|is not responding|Waiting for the service|Failed to fetch/;

async function goesOn(tab: Tab): Promise<void> {
  await tab.page.getByText("No connection to the service").waitFor({ state: "detached" });
  await shown(tab).waitFor();
  if (tab.name.endsWith("-missing")) return;
  await until(`${tab.name} without an error`, async () => (await tab.page.getByText(FAILED).filter({ visible: true }).count()) === 0);
}

const MARK = "window.isSameDocument = true";
const isSameDocument = ({ page }: Tab) => page.evaluate("window.isSameDocument === true").catch(() => false);
const isOther = ({ page }: Tab) =>
  page.evaluate(`document.querySelector("script[type=module]")?.src.includes("${OTHER}") === true`).catch(() => false);

async function announcesNewVersion(tab: Tab): Promise<void> {
  if (tab.name !== "sign-in") await tab.page.getByRole("status").getByText("A new version of Inlet is running").waitFor();
  assert.equal(await isSameDocument(tab), true, `${tab.name} stays as it is until somebody leaves it`);
}

/** With the next page that somebody opens: whichever it is, the router asks for the new version. */
async function takesNewVersion(tab: Tab): Promise<void> {
  const { page, name } = tab;
  const navigation = page.getByRole("navigation", { name: "Pages" });
  if (name === "sign-in") await page.getByRole("button", { name: "Sign in" }).click();
  else await navigation.getByRole("link", { name: "Alerts", exact: true }).click();
  await until(`the new version of ${name}`, () => isOther(tab));
  await navigation.waitFor();
}

/** One of each file that pages are loaded from. */
const LEFT: ReadonlySet<string> = new Set(["events", "run", "webhook-new", "settings", "sign-in"]);

test("pages of every kind outlive a service that is killed and upgraded", { timeout: 1_800_000 }, async (t) => {
  const [data, build] = [temporaryFolder(t), temporaryFolder(t)];
  writeOtherBuild(build);
  const port = String(await freePort());
  const start = (dashboard: string) => startInlet(t, [port, data, dashboard], {}, SERVE_DASHBOARD);
  const service = await start(DIST);
  const demo = await startDemo(clientOf(service.url));
  onEnd(t, () => demo.stop());
  const tabs = await openTabs(t, service.url, demo.pages);
  const each = (act: (tab: Tab) => Promise<unknown>) => Promise.all(tabs.map(act));
  await each(isLoaded);
  await each(({ page }) => page.evaluate(MARK));

  await service.end("SIGKILL");
  await each(saysItIsAway);
  await start(build);
  await each(goesOn);
  await each(announcesNewVersion);
  for (const tab of tabs.filter(({ name }) => LEFT.has(name))) await takesNewVersion(tab);
});
