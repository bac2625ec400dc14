/** Holds back the response to the next such request. Returns what lets it arrive, and waits until the page has read it. */

import type { Page, Request, Route } from "playwright-core";

export async function delayNext(page: Page, url: string): Promise<() => Promise<void>> {
  const arrival = Promise.withResolvers<void>();
  let delayed: Request | undefined;
  const delay = async (route: Route) => {
    delayed = route.request();
    const response = await route.fetch();
    await arrival.promise;
    await route.fulfill({ response });
  };
  await page.route(url, delay, { times: 1 });
  return async () => {
    const finished = page.waitForEvent("requestfinished", (request) => request === delayed);
    arrival.resolve();
    await finished;
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  };
}
