import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { FlushLoop } from "./flush-loop.ts";

test("however long a write takes, one follows it: a stop waits for no more", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const first = Promise.withResolvers<void>();
  let writes = 0;
  const write = () => (++writes === 1 ? first.promise : Promise.resolve());
  const loop = new FlushLoop({ everyMs: 1_000, write, what: "figures", log: pino({ level: "silent" }) });
  loop.start();
  t.mock.timers.tick(1_000);
  await new Promise(setImmediate);
  for (let n = 0; n < 20; n++) t.mock.timers.tick(1_000);
  const stopped = loop.stop();
  first.resolve();
  await stopped;
  assert.equal(writes, 2);
});
