/** Events: live list, search and details. */

import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { test } from "../../../server/test/support/both-stores.ts";
import { startTestService, type TestService } from "../../../server/test/support/service.ts";
import { openPage, visit } from "../support/browser.ts";
import { dragOverChart } from "../support/chart.ts";
import { until } from "../support/until.ts";

export function eventCases(browser: () => Browser): void {
  test("an event appears when it arrives and is found by its id; a paused list counts new events instead of showing them", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), service.url);
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    await page.getByRole("link", { name: "Events", exact: true }).click();
    await page.getByText("No events yet").waitFor();
    await page.locator(".code-block").getByText(`curl -X POST "${service.url}/e/dev"`).waitFor();
    await page.getByRole("button", { name: /^Live/ }).waitFor();

    const [id] = (await service.send({ name: "shop/order.created", data: { orderId: "4711" } })).body.ids;
    await page.getByRole("listitem").filter({ hasText: "shop/order.created" }).waitFor();

    await page.getByRole("link", { name: "Keys" }).click();
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type(id.toLowerCase());
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/env/dev/events/${id}`);
    await page.getByRole("complementary", { name: "Event" }).getByText(id).waitFor();

    await page.getByRole("button", { name: /^Live/ }).click();
    await service.send([1, 2, 3].map((n) => ({ name: "a/later", data: { n } })));
    const pill = page.getByRole("button", { name: "3 new events" });
    await pill.waitFor();
    assert.equal(await page.getByText("a/later").count(), 0);
    await pill.click();
    await until("three rows", async () => (await page.getByRole("listitem").filter({ hasText: "a/later" }).count()) === 3);
  });

  test("filters are part of the URL, and the list scrolls without end; dragging over the chart selects a time range", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    await service.send(
      Array.from({ length: 180 }, (_, n) => ({ name: n % 2 ? "odd/one" : "even/one", data: { n, word: n === 77 ? "Needle" : "hay" } })),
    );
    const page = await openPage(t, browser(), `${service.url}/env/dev/events?name=odd%2F*`);
    await scrollThrough(page);
    await searchAndGoBack(page);
    await clearWhileTyping(page, service);
    await visit(page, "/env/dev/events");
    await dragOverChart(page, 0.25, 0.5);
    await page.waitForURL(/from=\d+&to=\d+/);
    const { searchParams } = new URL(page.url());
    const hours = (Number(searchParams.get("to")) - Number(searchParams.get("from"))) / 3_600_000;
    assert.ok(hours > 5 && hours < 7, `a quarter of a day, not ${hours} h`);
    await page.getByText("No event matches these filters").waitFor();
  });

  test("a path without an environment redirects to the default one; an error shows the service's message, never an empty list", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), `${service.url}/events?name=odd%2F*`, { allow: /40[04]/ });
    await page.waitForURL("**/env/dev/events?name=odd%2F*");
    await visit(page, "/runs");
    await page.waitForURL("**/env/dev/runs");

    await visit(page, "/env/dev/events?where=data.");
    await page.getByRole("alert").getByText("where").first().waitFor();
    assert.equal(await page.getByText("No events yet").count(), 0);
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await visit(page, "/env/nowhere/events");
    await page.getByRole("heading", { name: 'There is no environment "nowhere"' }).waitFor();
    assert.equal(await page.getByText("No events yet").count(), 0);

    await page.goto(`${service.url}/nothing`);
    await page.getByText("Page not found").waitFor();
  });

  test("a payload is shown and copied as it was sent: exact numbers, and text never becomes markup; a large one opens in parts", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const attack = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
    const text = `{"name":"<b>bold</b>","data":{"amount":12345678901234567890.123456789,"big":9007199254740993,"twice":1,"twice":2,"note":${JSON.stringify(attack)}}}`;
    const [sent] = (await service.send(text)).body.ids;
    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await openPage(t, browser(), `${service.url}/env/dev/events/${sent}`, { permissions });
    const data = page.getByRole("region", { name: "Data" }).first();
    await data.getByText("12345678901234567890.123456789").waitFor();
    await data.getByText("9007199254740993").waitFor();
    assert.equal(await data.getByText("twice").count(), 2, "a duplicate key is shown twice");
    await data.getByText("<img src=x").waitFor();
    await data.getByRole("button", { name: "Raw" }).click();
    assert.match(await data.locator("pre").innerText(), /"amount": 12345678901234567890\.123456789/);
    assert.equal(await page.locator("main img, main script, main b").count(), 0);
    await page.getByRole("heading", { name: "<b>bold</b>" }).waitFor();
    await copyAsCode(page, service);
    await openLarge(page, service);
  });

  test("an event is sent, sent again and edited from the dashboard", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const page = await openPage(t, browser(), `${service.url}/env/dev/events`, { allow: /400/ });
    await page.getByRole("button", { name: "Send event" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("textbox", { name: "Event" }).fill('{"name":"by/hand","data":{"n":9007199254740993},"id":"once"');
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByText("Invalid JSON").waitFor();
    await dialog.getByRole("textbox", { name: "Event" }).fill('{"name":"by/hand","data":{"n":9007199254740993},"id":"once"}');
    await dialog.getByRole("button", { name: "Send" }).click();
    await page.getByRole("listitem").filter({ hasText: "by/hand" }).click();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Send again" }).click();
    await page.getByText("Sent again as").waitFor();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: "Edit and send" }).click();
    const text = await dialog.getByRole("textbox", { name: "Event" }).inputValue();
    assert.match(text, /9007199254740993/, "numbers stay exact in the editor");
    assert.doesNotMatch(text, /"once"/, "with its id it would be a duplicate");
    await dialog.getByRole("textbox", { name: "Event" }).fill('{"name":"","data":{}}');
    await dialog.getByRole("button", { name: "Send" }).click();
    await dialog.getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    const { body } = await service.rest("GET", "/events?name=by/hand");
    assert.equal(body.data.length, 2);
  });
}

/** The list has 90 of 180 events. */
async function scrollThrough(page: Page): Promise<void> {
  await page.getByRole("listitem").first().waitFor();
  assert.equal(await page.getByRole("combobox", { name: "Event name" }).inputValue(), "odd/*");
  await until("the end of the list", async () => {
    await page.evaluate("{ const list = document.querySelector('.list-scroll'); list.scrollTo(0, list.scrollHeight); }");
    return page.getByText("90 events in total").isVisible();
  });
  assert.ok((await page.getByRole("listitem").count()) < 60, "only visible rows are rendered");

  await page.evaluate("document.querySelector('.list-scroll').scrollTo(0, 0)");
  await page.getByRole("listitem").first().getByText('"n":179,').waitFor();
  await page.getByRole("listitem").first().getByRole("link").focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("listitem").nth(1).locator("a:focus").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/events\/\w{26}\?/);
  await page.getByRole("listitem").nth(1).locator("[aria-current=page]").waitFor();
  await page.getByRole("link", { name: "Close" }).click();
  await page.waitForURL(/\/events\?/);
}

async function searchAndGoBack(page: Page): Promise<void> {
  const text = page.getByRole("searchbox", { name: "Text in the payload" });
  await text.fill("needle");
  await page.waitForURL(/q=needle/);
  await page.getByText("1 event in total").waitFor();
  await page.goBack();
  await page.waitForURL(/\/events\/\w{26}\?/);
  await until("the text to go", async () => (await text.inputValue()) === "");
  await page.goForward();
  await page.waitForURL(/q=needle/);
  await until("the text to come back", async () => (await text.inputValue()) === "needle");
  await page.reload();
  await page.getByText("1 event in total").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await until("all events", async () => (await page.getByRole("listitem").count()) > 10);
}

/** Before the page is rendered with either. */
const CHANGE_BOTH = `{
  const [text, source] = ["Text in the payload", "Source"].map((label) => document.querySelector('[aria-label="' + label + '"]'));
  text.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
  source.value = "";
  source.dispatchEvent(new Event("change", { bubbles: true }));
}`;

/** Text that is cleared while being typed stays cleared; text that is typed while another filter changes applies with it. */
async function clearWhileTyping(page: Page, service: TestService): Promise<void> {
  await service.send([1, 2].map((m) => ({ name: "a/b", data: { m } })));
  await visit(page, "/env/dev/events?name=a%2F*");
  await page.getByText("2 events in total").waitFor();
  const text = page.getByRole("searchbox", { name: "Text in the payload" });
  await text.fill("nowhere");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.waitForURL(/\/events$/);
  await until("the text to go", async () => (await text.inputValue()) === "");
  await text.fill('"m":2');
  await page.getByRole("combobox", { name: "Source" }).selectOption("key");
  await page.waitForURL((url) => url.searchParams.get("source") === "key" && url.searchParams.get("q") !== null);
  await page.getByText("1 event in total").waitFor();

  await text.fill('"m":1');
  await page.evaluate(CHANGE_BOTH);
  await page.waitForURL(({ searchParams }) => searchParams.get("source") === null && searchParams.get("q") === '"m":1');
}

async function copyAsCode(page: Page, service: TestService): Promise<void> {
  const { body } = await service.send('{"name":"it/is","data":{"n":9007199254740993,"quote":"it\'s"}}');
  await visit(page, `/env/dev/events/${body.ids[0]}`);
  await page.getByRole("heading", { name: "it/is" }).waitFor();
  for (const [item, expected] of [
    ["Copy as curl", /^curl -X POST "http:\/\/127\.0\.0\.1:\d+\/e\/dev"[\s\S]*"n": 9007199254740993[\s\S]*it'\\''s/],
    ["Copy as SDK code", /^import \{ Inlet \} from "@inlet\/sdk";[\s\S]*await inlet\.send\(\{[\s\S]*"n": 9007199254740993/],
  ] as const) {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: item }).click();
    await page.getByText(item.replace("Copy", "Copied")).waitFor();
    assert.match((await page.evaluate("navigator.clipboard.readText()")) as string, expected);
  }
}

/** Half a megabyte. */
async function openLarge(page: Page, service: TestService): Promise<void> {
  const items = Array.from({ length: 18_000 }, (_, n) => ({ n, on: n % 2 === 0 }));
  const { body } = await service.send({ name: "large/payload", data: { items, text: "x".repeat(5_000) } });
  await visit(page, `/env/dev/events/${body.ids[0]}`);
  const data = page.getByRole("region", { name: "Data" }).first();
  await data.getByRole("button", { name: "show all 5002 characters" }).waitFor();
  await data.getByRole("button", { name: /items: .* 18,000 items/ }).click();
  await data.getByRole("button", { name: "17900 more" }).click();
  await data.getByRole("button", { name: "17400 more" }).waitFor();
  await data.getByRole("button", { name: "Raw" }).click();
  await data.getByRole("button", { name: /show all/ }).waitFor();
}
