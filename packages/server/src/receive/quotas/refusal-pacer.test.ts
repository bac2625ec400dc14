import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { Refusal } from "@inlet/protocol";
import { pino } from "pino";
import { BodyBudget } from "../bodies/body-budget.ts";
import { createClientIp } from "../connections/client-ip.ts";
import { createHttpEdge } from "../http-edge.ts";
import { RefusalPacer } from "./refusal-pacer.ts";

const NOON = Date.UTC(2030, 5, 15, 12);
const BETWEEN_MS = 2;

test("who sends no faster than the pace never waits", () => {
  let now = NOON;
  const pacer = new RefusalPacer(() => now);
  for (; now < NOON + 1_000; now += BETWEEN_MS) assert.equal(pacer.delayOf("a"), 0);
});

test("refusals of one sender that come together take turns, none for longer than a second", () => {
  let now = NOON;
  const pacer = new RefusalPacer(() => now);
  const delays = Array.from({ length: 2_000 }, () => pacer.delayOf("a"));
  assert.deepEqual(delays.slice(0, 4), [0, 2, 4, 6]);
  assert.equal(Math.max(...delays), 1_000);
  assert.equal(pacer.delayOf("b"), 0, "each sender is counted for itself");
  now += 5_000;
  assert.equal(pacer.delayOf("a"), 0, "a sender that paused is refused at once");
});

test("a clock that was set back makes nobody wait longer", () => {
  let now = NOON;
  const pacer = new RefusalPacer(() => now);
  pacer.delayOf("a");
  now -= 3_600_000;
  assert.equal(pacer.delayOf("a"), 1_000);
  now += 5_000;
  assert.equal(pacer.delayOf("a"), 0);
});

test("responses over a quota are paced by key, and no others; the memory of their bodies is free by then", async (t) => {
  const budget = new BodyBudget(1);
  const paced: string[] = [];
  class Watched extends RefusalPacer {
    override delayOf(keyText: string): number {
      const share = budget.enter();
      assert.ok(share, "nothing is held while a response waits");
      share.release();
      paced.push(keyText);
      return 1;
    }
  }
  const edge = createHttpEdge({
    receive: async ({ keyText }) =>
      keyText === "fine" ? { ids: [] } : new Refusal(keyText === "over" ? "quota_exceeded" : "ip_denied", "No."),
    log: pino({ level: "silent" }),
    budget,
    pacer: new Watched(Date.now),
    clientIp: createClientIp(false),
    guard: null,
    hasHandshake: () => false,
    isDraining: () => false,
  });
  const server = createServer(edge).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  t.after(() => void server.close().closeAllConnections());
  const send = (key: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/e/${key}`, { method: "POST", body: "{}" });
  const statuses: number[] = [];
  for (const key of ["fine", "over", "denied", "over"]) statuses.push((await send(key)).status);
  assert.deepEqual(
    [statuses, paced],
    [
      [200, 429, 403, 429],
      ["over", "over"],
    ],
  );
});
