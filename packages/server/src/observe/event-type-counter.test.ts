import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { createEventTypeCounter } from "./event-type-counter.ts";

test("counting ends at the last event there was, though others keep coming", async (t) => {
  // No time passes: a caller waits for a bounded time only.
  t.mock.timers.enable({ apis: ["Date"] });
  let stored = 12_000;
  let counted = 0;
  let ranges = 0;
  let note = (): void => undefined;
  const counter = createEventTypeCounter({
    store: {
      eventWatch(listener) {
        note = listener;
        return () => undefined;
      },
      async eventTypeCount({ limit }) {
        ranges++;
        const last = stored;
        counted = Math.min(counted + limit, last);
        stored += 100;
        note();
        return counted === last;
      },
    } as Parameters<typeof createEventTypeCounter>[0]["store"],
    log: pino({ level: "silent" }),
  });
  counter.start();
  await counter.catchUp();
  assert.deepEqual([ranges, counted], [3, 12_200]);
  await counter.catchUp();
  assert.deepEqual([ranges, counted], [4, 12_300]);
  await counter.stop();
});
