/** How much the dashboard loads: bytes and requests, whatever the time they take. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { startTestService } from "../../../server/test/support/service.ts";
import { openPage } from "../support/browser.ts";
import { startDemo } from "../support/demo.ts";
import { until } from "../support/until.ts";

const COLD_REQUESTS_MAX = 25;
const IDLE_BYTES_MAX = 50 * 1024;
const IDLE_MS = 30_000;
/** How often the overview asks. */
const POLL_MS = 10_000;
const STATS_BYTES_MAX = 8 * 1024;

interface Loaded {
  path: string;
  /** The path with its query, whatever time it names. */
  question: string;
  bytes: number;
}

/** Everything the page loads, with the bytes of the connection, as the browser counts them. */
async function watchLoads(page: Page): Promise<{ loaded: Loaded[]; open(): number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const asked = new Map<string, URL>();
  const loaded: Loaded[] = [];
  session.on("Network.requestWillBeSent", ({ requestId, request }) => asked.set(requestId, new URL(request.url)));
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const { pathname: path = "", search = "" } = asked.get(requestId) ?? {};
    loaded.push({ path, question: path + search.replace(/\b(from|to|since|ids)=[^&]*/g, "$1"), bytes: encodedDataLength });
    asked.delete(requestId);
  });
  session.on("Network.loadingFailed", ({ requestId }) => asked.delete(requestId));
  return { loaded, open: () => asked.size };
}

/** False if the page was too slow to be told in time. */
async function stopClock(page: Page): Promise<boolean> {
  const soon = Number(await page.evaluate("Date.now()")) + 1_000;
  return page.clock.pauseAt(soon).then(
    () => true,
    () => false,
  );
}

export function weightCases(browser: () => Browser): void {
  test("a cold page takes at most 25 requests, an idle overview 50 KB in 30 s, and the list of webhooks one for all", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const demo = await startDemo(service);
    onEnd(t, () => demo.stop());
    const page = await openPage(t, browser(), "about:blank", { allow: /404/ });
    await page.clock.install();
    const { loaded, open } = await watchLoads(page);
    const settled = () => until("all responses", async () => open() === 0 && loaded.length > 0);
    await page.goto(`${service.url}/env/dev`);
    await page.getByRole("img", { name: /^Events: / }).waitFor();
    // From here on, time passes as the test lets it: on a busy machine, the page would poll meanwhile.
    await until("the page's clock to stand", () => stopClock(page));
    // The other pages are preloaded.
    await page.clock.runFor(2_000);
    await until("the other pages", async () => loaded.some(({ path }) => path.includes("manage-pages")));
    await settled();
    // The same question again is not counted: a page that takes longer polls.
    const cold = new Set(loaded.map(({ question }) => question));
    t.diagnostic(`cold: ${cold.size} requests`);
    assert.ok(cold.size <= COLD_REQUESTS_MAX, `${cold.size} requests: ${[...cold].join(" ")}`);

    const isStats = ({ path }: Loaded) => path === "/v1/stats";
    loaded.length = 0;
    for (let n = 1; n <= IDLE_MS / POLL_MS; n++) {
      await page.clock.runFor(POLL_MS);
      await until("the figures", async () => loaded.filter(isStats).length >= n);
      await settled();
    }
    const bytes = loaded.reduce((sum, one) => sum + one.bytes, 0);
    t.diagnostic(`idle: ${loaded.length} requests, ${bytes} bytes`);
    assert.ok(bytes <= IDLE_BYTES_MAX, `${bytes} bytes`);
    for (const stats of loaded.filter(isStats)) assert.ok(stats.bytes <= STATS_BYTES_MAX, `${stats.bytes} bytes of figures`);

    loaded.length = 0;
    await page.clock.resume();
    await page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await page.getByRole("row").filter({ hasText: "Stripe" }).getByText("refused").waitFor();
    await settled();
    const paths = loaded.map(({ path }) => path).filter((path) => path.startsWith("/v1/webhooks"));
    assert.deepEqual(paths.toSorted(), ["/v1/webhooks", "/v1/webhooks/health"]);
  });
}
