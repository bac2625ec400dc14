/** The live lists of events and runs have no gap: after pauses, scrolling and bursts they show what the store has, in the same order. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { before, type TestContext } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Browser, Page } from "playwright-core";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startTestService, type TestService } from "../../server/test/support/service.ts";
import { TAIL_MAX } from "../src/events/event-tail.ts";
import { startShopApp } from "./support/app.ts";
import { openPage } from "./support/browser.ts";
import { sharedBrowser } from "./support/shared-browser.ts";
import { until } from "./support/until.ts";

let browser: Browser;
before(async () => {
  browser = await sharedBrowser();
});

const BATCH = 500;
/** The page keeps that many new events and drops older ones, which it then reads as pages. */
const MORE_THAN_A_TAIL = TAIL_MAX + 20;
/** More than a stream goes on after. */
const LONG_MS = 61_000;
/** Tall, so that the list is read in few steps. */
const viewport = { width: 1280, height: 3_000 };

async function send(service: TestService, name: string, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += BATCH) {
    const length = Math.min(BATCH, count - sent);
    await service.send(Array.from({ length }, (_, n) => ({ name, data: { n: sent + n } })));
  }
}

async function stored(service: TestService, items: "events" | "runs" = "events"): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await service.rest("GET", `/${items}?limit=100${cursor && `&cursor=${cursor}`}`);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.page.next;
  }
  return ids;
}

/** Scrolls through the list from the top and collects its rows: all of them, or as many as asked for. */
const readList = (count = Number.POSITIVE_INFINITY) => `(async () => {
  const list = document.querySelector(".list-scroll");
  const seen = new Map();
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (list.scrollTo(0, 0); ; list.scrollBy(0, list.clientHeight)) {
    await frame();
    for (const row of list.querySelectorAll("[data-id]")) seen.set(row.dataset.id, row.getBoundingClientRect().top + list.scrollTop);
    if (seen.size >= ${count}) break;
    const isEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 1;
    if (isEnd && /in total/.test(list.querySelector(".list-foot")?.textContent ?? "")) break;
  }
  list.scrollTo(0, 0);
  return [...seen].sort(([, a], [, b]) => a - b).map(([id]) => id).slice(0, ${count});
})()`;

async function assertComplete(page: Page, service: TestService, when: string, count?: number): Promise<void> {
  const all = (await stored(service)).slice(0, count);
  const shown = (await page.evaluate(readList(count))) as string[];
  const missing = all.filter((id) => !shown.includes(id));
  assert.deepEqual([shown.length, missing.length], [all.length, 0], when);
  assert.deepEqual(shown, all, `the order ${when}`);
}

test("the live tail shows what the store has after a pause, after scrolling and after a burst", { timeout: 600_000 }, async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  await send(service, "a/first", 70);
  const page = await openPage(t, browser, `${service.url}/env/dev/events`, { viewport });
  const rows = page.getByRole("listitem");
  await rows.filter({ hasText: "a/first" }).first().waitFor();

  await page.getByRole("button", { name: /^Live/ }).click();
  await send(service, "a/paused", 120);
  await page.getByRole("button", { name: "120 new events" }).waitFor();
  await page.getByRole("button", { name: /^Paused/ }).click();
  await rows.filter({ hasText: "a/paused" }).first().waitFor();
  await assertComplete(page, service, "after a pause");

  await page.evaluate("document.querySelector('.list-scroll').scrollTo(0, 900)");
  await page.locator('.list-scroll[data-held="true"]').waitFor();
  await send(service, "a/scrolled", MORE_THAN_A_TAIL);
  await page.getByRole("button", { name: `${MORE_THAN_A_TAIL.toLocaleString("en")} new events` }).waitFor();
  await page.evaluate("document.querySelector('.list-scroll').scrollTo(0, 0)");
  await rows.filter({ hasText: "a/scrolled" }).first().waitFor();
  await send(service, "a/last", 1);
  await rows.filter({ hasText: "a/last" }).waitFor();
  await assertComplete(page, service, "after scrolling back to the top");

  await send(service, "a/burst", MORE_THAN_A_TAIL);
  await send(service, "a/end", 1);
  await rows.filter({ hasText: "a/end" }).waitFor();
  // What is below was read before.
  await assertComplete(page, service, "after a burst", MORE_THAN_A_TAIL + 150);
});

const setVisibility = (page: Page, state: "hidden" | "visible") =>
  page.evaluate(`{
    Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }`);

test("a tab that was hidden for long reads what is new from the list, not all that it missed from the stream", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  await send(service, "a/first", 70);
  const page = await openPage(t, browser, `${service.url}/env/dev/events`, { viewport });
  const rows = page.getByRole("listitem");
  await page.getByRole("button", { name: /^Live/ }).waitFor();
  await send(service, "a/live", 1);
  await rows.filter({ hasText: "a/live" }).waitFor();
  /** Returns the cursor with which the stream goes on. */
  const hide = async (ms: number, meanwhile: () => Promise<void>) => {
    await setVisibility(page, "hidden");
    // The list is read by its frames, which the clock of Playwright would replace.
    await page.evaluate(`{ const now = Date.now; Date.now = () => now() + ${ms}; }`);
    await meanwhile();
    const reopened = page.waitForRequest((request) => request.url().includes("/events/stream"));
    await setVisibility(page, "visible");
    return (await reopened).headers()["last-event-id"];
  };

  assert.match(String(await hide(1_000, () => send(service, "a/short", 1))), /^\d+$/);
  await rows.filter({ hasText: "a/short" }).waitFor();
  assert.equal(await hide(LONG_MS, () => send(service, "a/long", 120)), undefined);
  await rows.filter({ hasText: "a/long" }).first().waitFor();
  await assertComplete(page, service, "after it was hidden for long");

  await page.getByRole("button", { name: /^Live/ }).click();
  await send(service, "a/paused", 1);
  await page.getByRole("button", { name: "1 new event" }).waitFor();
  assert.equal(await hide(LONG_MS, () => send(service, "a/late", 120)), undefined);
  await page.getByRole("button", { name: "121 new events" }).waitFor();
  await page.getByRole("button", { name: /^Paused/ }).click();
  await rows.filter({ hasText: "a/late" }).first().waitFor();
  await assertComplete(page, service, "after a pause during which it was hidden");
});

test("a list with a named time range stays as it is when the range has moved on by a minute", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  await send(service, "a/first", 120);
  const page = await openPage(t, browser, "about:blank");
  await page.clock.install();
  await page.goto(`${service.url}/env/dev/events?range=1h`);
  await page.getByText("Loading more…").waitFor();
  await page.getByRole("button", { name: /^Live/ }).waitFor();
  const scrolled = "document.querySelector('.list-scroll').scrollTop";
  await page.evaluate(`${scrolled} = 900`);
  await page.locator('.list-scroll[data-held="true"]').waitFor();

  let loads = 0;
  page.on("request", (request) => {
    if (/\/v1\/events\?(?!.*cursor=)/.test(request.url())) loads++;
  });
  await page.clock.fastForward(61_000);
  await send(service, "a/late", 1);
  const waiting = page.getByRole("button", { name: "1 new event" });
  await until("the new event", async () => loads > 0 || waiting.isVisible());
  assert.deepEqual([loads, await page.evaluate(scrolled)], [0, 900]);
});

test("a list of runs has no gap: after a pause, while it is joined with the stream, and after a burst", { timeout: 600_000 }, async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const app = await startShopApp(service.url);
  onEnd(t, () => app.stop());
  await service.rest("POST", "/apps", { body: { url: app.url } });
  // Runs of a paused function do not change any more, so that each is reported once.
  await service.rest("POST", "/functions/shop-remind/pause");
  const page = await openPage(t, browser, `${service.url}/env/dev/runs`, { viewport });
  const rows = page.getByRole("listitem");
  const live = page.getByRole("button", { name: /^Live/ });
  await live.waitFor();
  await send(service, "shop/cart.left", 4);
  await until("four rows", async () => (await rows.count()) === 4);

  await live.click();
  await send(service, "shop/cart.left", 130);
  await untilStored(service, 134);
  assert.equal(await rows.count(), 4, "a paused list keeps its rows");
  const answers = Promise.withResolvers<void>();
  await page.route("**/v1/runs?*", (route) => answers.promise.then(() => route.fallback()));
  const opened = page.waitForResponse((response) => response.url().includes("/runs/stream"));
  await page.getByRole("button", { name: /^Paused/ }).click();
  await opened;
  await send(service, "shop/cart.left", 10);
  await untilStored(service, 144);
  assert.deepEqual([await live.count(), await rows.count()], [0, 4], "not live without the runs that started during the pause");
  answers.resolve();
  await live.waitFor();
  await untilComplete(page, service, 144, "after a pause");

  await send(service, "shop/cart.left", 400);
  await untilStored(service, 544);
  await untilComplete(page, service, 544, "after a burst");
});

async function untilStored(service: TestService, count: number): Promise<void> {
  await until(`${count} runs`, async () => (await stored(service, "runs")).length === count);
}

async function untilComplete(page: Page, service: TestService, count: number, when: string): Promise<void> {
  const all = await stored(service, "runs");
  assert.equal(all.length, count);
  await until(`all runs ${when}`, async () => isDeepStrictEqual(await page.evaluate(readList()), all));
}

/** A page of its own, not the dashboard's: examples/chat-stream. */
async function startChat(t: TestContext, service: TestService): Promise<string> {
  const cwd = new URL("../../../examples/chat-stream/", import.meta.url);
  const env = { ...process.env, PORT: "0", INLET_BASE_URL: service.url };
  const app = spawn(process.execPath, ["--env-file=dev.env", "server.ts"], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  onEnd(t, () => app.kill());
  for await (const line of createInterface(app.stdout)) {
    const [, url] = /^listening on (http:\S+)$/.exec(line) ?? [];
    if (!url) continue;
    app.stdout.resume();
    return url;
  }
  return assert.fail("the example ended before it was listening");
}

test("a chat that is reloaded while its answer streams from a step shows every token once", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const url = await startChat(t, service);
  assert.equal((await service.rest("POST", "/apps", { body: { url: `${url}/api/inlet` } })).status, 201);
  const page = await openPage(t, browser, url);
  await page.locator("body[data-connected]").waitFor();
  await page.getByRole("button", { name: "Ask" }).click();
  for (const part of ["You asked", "long answer", "so that"]) {
    await page.getByLabel("Answer").filter({ hasText: part }).waitFor();
    await page.reload();
  }
  await page.getByRole("status").filter({ hasText: "answered" }).waitFor();
  assert.equal(
    await page.getByLabel("Answer").textContent(),
    "You asked: What is an event? Here is a long answer, one word at a time, so that there is time to reload the page in the middle of it. ",
  );
});
