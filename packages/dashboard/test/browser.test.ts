/** The dashboard in a real browser, against real services. All cases share one browser, because starting one is slow. */

import { after, before, describe } from "node:test";
import type { Browser } from "playwright-core";
import { accessibilityCases } from "./cases/accessibility.ts";
import { alertCases } from "./cases/alerts.ts";
import { branchCases } from "./cases/branches.ts";
import { devServerCases } from "./cases/dev-server.ts";
import { eventTypeCases } from "./cases/event-types.ts";
import { eventCases } from "./cases/events.ts";
import { firstLoadCases } from "./cases/first-load.ts";
import { keyboardCases } from "./cases/keyboard.ts";
import { keyCases } from "./cases/keys.ts";
import { listCases } from "./cases/lists.ts";
import { repairCases } from "./cases/repair.ts";
import { restartCases } from "./cases/restart.ts";
import { runCases } from "./cases/runs.ts";
import { signInCases } from "./cases/sign-in.ts";
import { statsCases } from "./cases/stats.ts";
import { webhookCases } from "./cases/webhooks.ts";
import { launchBrowser } from "./support/browser.ts";

describe("the dashboard", () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());
  const get = () => browser;
  eventCases(get);
  listCases(get);
  keyboardCases(get);
  repairCases(get);
  alertCases(get);
  devServerCases(get);
  webhookCases(get);
  branchCases(get);
  runCases(get);
  statsCases(get);
  eventTypeCases(get);
  keyCases(get);
  signInCases(get);
  restartCases(get);
  firstLoadCases(get);
  accessibilityCases(get);
});
