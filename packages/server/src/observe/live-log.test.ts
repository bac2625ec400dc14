import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { type EnvironmentId, type EventId, Refusal, type RunId } from "@inlet/protocol";
import type { NewEvent } from "../store/contract/index.ts";
import { createLiveLog } from "./live-log.ts";

const BRANCH = 7 as EnvironmentId;

function setUp() {
  const lines: string[] = [];
  const log = createLiveLog({
    environmentShown: (id) => (id === BRANCH ? "feature/cart" : null),
    write: (line) => lines.push(stripVTControlCharacters(line)),
    now: () => Date.UTC(2026, 0, 1, 12, 30, 5, 7),
  });
  return { log, lines };
}

function event(id: string, name: string): NewEvent {
  return { id: id as EventId, name, ts: 1, dedupId: null, data: "{}", extras: null };
}

test("events, duplicates, refusals and ends are a line each, and draw nothing", () => {
  const { log, lines } = setUp();
  const events = [event("A", "shop/order"), event("B", "shop/\u009b31m")];
  log.kept({ environmentId: 1 as EnvironmentId, events }, { ids: ["A", "first"] as EventId[] });
  log.kept({ environmentId: BRANCH, events: [event("C", "x")] }, { ids: ["C"] as EventId[] });
  log.refused(new Refusal("body_invalid", "Not JSON."));
  const failed = {
    status: "failed",
    output: null,
    error: { name: "TypeError", message: "no" },
    endedAt: 1,
    invokerValue: { status: "failed", value: "null" },
  } as const;
  log.ended("shop-ship", "R" as RunId, failed);
  assert.deepEqual(lines, [
    "12:30:05.007  event      A  shop/order",
    "12:30:05.007  duplicate  first  shop/\\x9b31m",
    "12:30:05.007  event      C  x  (feature/cart)",
    "12:30:05.007  refused    400 body_invalid  Not JSON.",
    "12:30:05.007  failed     R  shop-ship  TypeError: no",
  ]);
});

test("a large request is cut short", () => {
  const { log, lines } = setUp();
  const events = Array.from({ length: 500 }, (_, n) => event(String(n), "a"));
  log.kept({ environmentId: 1 as EnvironmentId, events }, { ids: events.map(({ id }) => id) });
  assert.deepEqual([lines.length, lines.at(-1)], [11, "12:30:05.007  event      and 490 more in the same request"]);
});
