import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import type { Store } from "../store/contract/index.ts";
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
      storeDatabases: () => [{}],
      eventWatch(listener: () => void) {
        note = listener;
        return () => undefined;
      },
      async eventTypeCount({ limit }: { limit: number }) {
        ranges++;
        const last = stored;
        counted = Math.min(counted + limit, last);
        stored += 100;
        note();
        return counted === last;
      },
    } as unknown as Store,
    log: pino({ level: "silent" }),
  });
  counter.start();
  await counter.catchUp();
  assert.deepEqual([ranges, counted], [3, 12_200]);
  await counter.catchUp();
  assert.deepEqual([ranges, counted], [4, 12_300]);
  await counter.stop();
});
