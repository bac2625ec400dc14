/** Selects a time range in the chart over a list, with the mouse. Positions are shares of its width. */

import assert from "node:assert/strict";
import type { Page } from "playwright-core";

export async function dragOverChart(page: Page, from: number, to: number): Promise<void> {
  const chart = page.locator(".events-chart .u-over");
  // Hovering waits until the chart is stable.
  await chart.hover();
  const { width } = (await chart.boundingBox()) ?? assert.fail("the chart is there");
  await chart.hover({ position: { x: width * from, y: 10 } });
  await page.mouse.down();
  await chart.hover({ position: { x: width * to, y: 10 } });
  await page.mouse.up();
}
