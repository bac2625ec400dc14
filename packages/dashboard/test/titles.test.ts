/** The title of the window names the object that its page is about. */

import { before, test } from "node:test";
import type { Browser } from "playwright-core";
import { startTestService } from "../../server/test/support/service.ts";
import { openPage } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

test("titles name the event, and the list again when it is closed", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const { body } = await service.send({ name: "shop/order.created", data: {} });
  const page = await openPage(t, browser, `${service.url}/env/dev/events/${body.ids[0]}`);
  const hasTitle = (title: string) => until(title, async () => (await page.title()) === title);
  await hasTitle("shop/order.created · Events · dev · Inlet");
  await page.keyboard.press("Escape");
  await hasTitle("Events · dev · Inlet");
});
