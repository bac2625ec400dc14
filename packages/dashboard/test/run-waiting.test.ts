/** A run that waits says why on its page. */

import { before } from "node:test";
import type { Browser } from "playwright-core";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startTestService } from "../../server/test/support/service.ts";
import { startShopApp } from "./support/app.ts";
import { openPage, visit } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

test("a run says that its function is paused, or that its key is on hold and by which run", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  await service.rest("POST", "/functions/shop-charge/pause");
  const runOf = async (event: object, status: string) => {
    const { body } = await service.send(event);
    return until("the run", async () => {
      const { data } = (await service.rest("GET", `/events/${body.ids[0]}/runs`)).body;
      return data[0]?.status === status && data[0].id;
    });
  };
  const paused = await runOf({ name: "shop/payment.due", data: {} }, "queued");
  const failed = await runOf({ name: "shop/delivery.due", data: { customer: "ada" } }, "failed");
  const held = await runOf({ name: "shop/delivery.due", data: { customer: "ada", address: "here" } }, "queued");
  const page = await openPage(t, browser, `${service.url}/env/dev/runs/${held}`);
  await page.getByText('its key "ada" is on hold since').waitFor();
  await page.getByRole("link", { name: failed }).waitFor();
  await visit(page, `/env/dev/runs/${paused}`);
  await page.getByText("its function is paused").waitFor();
  await service.rest("POST", "/functions/shop-charge/resume");
  await page.getByText("its function is paused").waitFor({ state: "detached" });
});
