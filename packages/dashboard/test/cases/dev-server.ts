/** Send to Dev Server: from one service's dashboard to another service. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Browser } from "playwright-core";
import { startTestService } from "../../../server/test/support/service.ts";
import { openPage } from "../support/browser.ts";

/** Whether the default address answers is looked at first; on a test machine nothing does. */
const NOT_THERE = /ERR_CONNECTION_REFUSED/;
const TS = 1_700_000_000_000;

export function devServerCases(browser: () => Browser): void {
  test("an event is sent to a dev server, without its ts, and seen there", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const devServer = await startTestService(t, { mode: "dev", flags: ["--allow-origin", service.url] });
    const sent = `{"name":"shop/order.created","id":"order-1","ts":${TS},"v":"2","data":{"total":12345678901234567890}}`;
    const [id] = (await service.send(sent)).body.ids;

    const page = await openPage(t, browser(), `${service.url}/env/dev/events/${id}`, { allow: NOT_THERE });
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to Dev Server" });
    const address = dialog.getByRole("textbox", { name: "Address of the dev server" });
    assert.equal(await address.inputValue(), "http://localhost:8288");
    await address.fill(`${devServer.url}/`);
    await dialog.getByText("Something answers at this address").waitFor();
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Sent. The dev server answered").waitFor();

    const there = await devServer.rest("GET", "/events");
    assert.equal(there.body.data.length, 1);
    const [event] = there.body.data;
    assert.equal(event.name, "shop/order.created");
    assert.equal(event.dedupId, "order-1");
    assert.equal(event.v, "2");
    assert.notEqual(event.ts, TS, "on the dev server it happens now");
    assert.match(there.text, /"total":12345678901234567890\}/);

    const seen = await openPage(t, browser(), `${devServer.url}/env/dev/events`);
    await seen.getByRole("listitem").filter({ hasText: "shop/order.created" }).waitFor();

    await page.reload();
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    assert.equal(await address.inputValue(), devServer.url, "the address is remembered");
  });

  test("a dev server that does not know this page refuses the event and says what would let it in", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const devServer = await startTestService(t, { mode: "dev" });
    const [id] = (await service.send({ name: "a/b", data: {} })).body.ids;
    const page = await openPage(t, browser(), `${service.url}/env/dev/events/${id}`, {
      allow: /ERR_CONNECTION_REFUSED|ERR_FAILED|403|CORS policy/,
    });
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to Dev Server" });
    await dialog.getByRole("textbox", { name: "Address of the dev server" }).fill(devServer.url);
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").getByText(`--allow-origin ${service.url}`).waitFor();
    assert.deepEqual((await devServer.rest("GET", "/events")).body.data, []);
  });

  test("a dev server that is not there is told, before sending and after", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const gone = await startTestService(t, { mode: "dev" });
    await gone.stop();
    const [id] = (await service.send({ name: "a/b", data: {} })).body.ids;
    const page = await openPage(t, browser(), `${service.url}/env/dev/events/${id}`, { allow: NOT_THERE });
    await page.getByRole("button", { name: "Send to Dev Server" }).click();
    const dialog = page.getByRole("dialog", { name: "Send to Dev Server" });
    await dialog.getByRole("textbox", { name: "Address of the dev server" }).fill("not an address");
    assert.ok(await dialog.getByRole("button", { name: "Send" }).isDisabled());
    await dialog.getByRole("textbox", { name: "Address of the dev server" }).fill(gone.url);
    await dialog.getByText("Nothing answers at this address").waitFor();
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").getByText("did not take the event").waitFor();
  });
}
