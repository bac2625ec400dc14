/** Send to Dev Server: from one service's dashboard to another service. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { startTestService } from "../../../server/test/support/service.ts";
import { openPage } from "../support/browser.ts";
import { until } from "../support/until.ts";

const DEFAULT_URL = "http://localhost:8288";
const NOT_THERE = /ERR_CONNECTION_REFUSED/;
const TS = 1_700_000_000_000;

/** The dialog first checks the default URL: nothing answers there, whatever else runs on this machine. */
async function openEvent(t: TestContext, browser: Browser, url: string, allow: RegExp): Promise<Page> {
  const page = await openPage(t, browser, url, { allow });
  await page.route(`${DEFAULT_URL}/**`, (route) => route.abort("connectionrefused"));
  return page;
}

export function devServerCases(browser: () => Browser): void {
  test("an event is sent to a dev server without its ts and appears there", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const devServer = await startTestService(t, { mode: "dev", flags: ["--allow-origin", service.url] });
    const sent = `{"name":"shop/order.created","id":"order-1","ts":${TS},"v":"2","data":{"total":12345678901234567890}}`;
    const [id] = (await service.send(sent)).body.ids;

    const page = await openEvent(t, browser(), `${service.url}/env/dev/events/${id}`, NOT_THERE);
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to Dev Server" });
    const address = dialog.getByRole("textbox", { name: "URL of the dev server" });
    assert.equal(await address.inputValue(), DEFAULT_URL);
    await address.fill(`${devServer.url}/`);
    await dialog.getByText("The dev server is reachable").waitFor();
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Sent. The dev server returned").waitFor();

    const there = await devServer.rest("GET", "/events");
    assert.equal(there.body.data.length, 1);
    const [event] = there.body.data;
    assert.equal(event.name, "shop/order.created");
    assert.equal(event.dedupId, "order-1");
    assert.equal(event.v, "2");
    assert.notEqual(event.ts, TS, "it has the current time on the dev server");
    assert.match(there.text, /"total":12345678901234567890\}/);

    const seen = await openPage(t, browser(), `${devServer.url}/env/dev/events`);
    await seen.getByRole("listitem").filter({ hasText: "shop/order.created" }).waitFor();

    await page.reload();
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    assert.equal(await address.inputValue(), devServer.url, "the URL is stored");
  });

  test("a dev server that does not allow this origin refuses the event, and the dialog says how to allow it", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const devServer = await startTestService(t, { mode: "dev" });
    const [id] = (await service.send({ name: "a/b", data: {} })).body.ids;
    const page = await openEvent(t, browser(), `${service.url}/env/dev/events/${id}`, /ERR_CONNECTION_REFUSED|ERR_FAILED|403|CORS policy/);
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to Dev Server" });
    await dialog.getByRole("textbox", { name: "URL of the dev server" }).fill(devServer.url);
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").getByText(`--allow-origin ${service.url}`).waitFor();
    assert.deepEqual((await devServer.rest("GET", "/events")).body.data, []);
  });

  test("an unreachable dev server is reported before and after sending", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const gone = await startTestService(t, { mode: "dev" });
    await gone.stop();
    const [id] = (await service.send({ name: "a/b", data: {} })).body.ids;
    const page = await openEvent(t, browser(), `${service.url}/env/dev/events/${id}`, NOT_THERE);
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to Dev Server" });
    await dialog.getByRole("textbox", { name: "URL of the dev server" }).fill("not an address");
    await until("the button to be disabled", () => dialog.getByRole("button", { name: "Send" }).isDisabled());
    await dialog.getByRole("textbox", { name: "URL of the dev server" }).fill(gone.url);
    await dialog.getByText("Not reachable").waitFor();
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").getByText("did not accept the event").waitFor();
  });
}
