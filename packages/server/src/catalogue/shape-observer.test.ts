import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pino } from "pino";
import { makeEnvironment, sampleBatch, sampleEvent } from "../store/conformance/samples.ts";
import type { Store } from "../store/contract/index.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { ShapeObserver } from "./shape-observer.ts";

const EVENTS = 20;

test("other work runs while the data of many large events is parsed", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-shapes-"));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  const environment = await makeEnvironment(store);
  const data = `{"text":"${"x".repeat(60_000)}"}`;
  const events = Array.from({ length: EVENTS }, () => sampleEvent({ data }));
  await store.eventAppend(sampleBatch(environment, events));
  let turns = 0;
  let beforeParsing = 0;
  let afterParsing = 0;
  const ticking = { isOver: false };
  const tick = () => {
    turns++;
    if (!ticking.isOver) setImmediate(tick);
  };
  const watched: Store = {
    ...store,
    async eventSample(params) {
      const sample = await store.eventSample(params);
      beforeParsing = turns;
      return sample;
    },
    eventShapePut(params) {
      afterParsing = turns;
      return store.eventShapePut(params);
    },
  };
  const observer = new ShapeObserver({ store: watched, onDrift: async () => undefined, log: pino({ enabled: false }) });
  tick();
  await observer.catchUp();
  ticking.isOver = true;
  const shape = await observer.get(environment.id, events[0]?.name ?? "");
  assert.equal(shape?.samples, EVENTS);
  assert.ok(afterParsing - beforeParsing >= EVENTS / 2, `${afterParsing - beforeParsing} turns`);
});
