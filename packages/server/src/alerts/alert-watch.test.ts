import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { AlertWatch, type AlertWatchParts } from "./alert-watch.ts";

test("however long an evaluation takes, none waits behind it: a stop waits for that one", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const first = Promise.withResolvers<[]>();
  let evaluations = 0;
  const store = { alertRuleList: () => (++evaluations === 1 ? first.promise : Promise.resolve([])) };
  const watch = new AlertWatch({ store, log: pino({ level: "silent" }), everyMs: 1_000 } as unknown as AlertWatchParts);
  watch.start();
  for (let n = 0; n < 20; n++) t.mock.timers.tick(1_000);
  const stopped = watch.stop();
  first.resolve([]);
  await stopped;
  assert.equal(evaluations, 1);
});
