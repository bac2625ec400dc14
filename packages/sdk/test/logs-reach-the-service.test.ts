/** What functions write through `ctx.logger` is kept with the call it was written in, per step and attempt, and only once. */

import assert from "node:assert/strict";
import type { Logger } from "@inlet/sdk";
import { test } from "../../server/test/support/both-stores.ts";
import { type Stage, setStage } from "./service-stage.ts";
import { quiet } from "./test-app.ts";

interface Logged {
  status: string;
  output: unknown;
  steps: { id: string; name: string }[];
  calls: {
    attempt: number;
    httpStatus: number;
    answer: { body: string };
    logs: { lines: { at: string; level: string; message: string; stepId: string | null }[]; dropped: number } | null;
  }[];
}

const REDACTING = {
  name: "redact",
  beforeFunction: ({ logger, event }: { logger: Logger; event: { data: { mode?: string } } }) => {
    if (event.data.mode === "wrap")
      return { logger: { ...logger, info: (...args: unknown[]) => logger.info("tenant-1", String(args[0]).replace("s3cret", "***")) } };
    return event.data.mode === "replace" ? { logger: { ...quiet } } : {};
  },
};

async function runOf({ inlet, open, ended }: Stage, write: (logger: Logger) => void, mode?: string): Promise<Logged> {
  const fn = inlet.createFunction({ id: `log-${mode ?? "plain"}`, retries: 1 }, { event: `log/${mode ?? "plain"}` }, ({ logger }) =>
    write(logger),
  );
  await open(fn);
  await inlet.send({ name: `log/${mode ?? "plain"}`, data: { mode } });
  return (await ended(fn)) as unknown as Logged;
}

test("lines are kept with their step and attempt, once, and change neither status nor body of a response", async (t) => {
  const { inlet, open, ended } = await setStage(t, "start");
  const ship = inlet.createFunction({ id: "ship", retries: 1 }, { event: "shop/order" }, async ({ step, logger, attempt }) => {
    logger.info("begin", { n: 1 });
    await step.run("label", () => {
      logger.warn("printing — é😀", [1]);
      if (attempt === 0) throw new Error("no paper");
    });
    await Promise.all([step.run("a", () => logger.debug("in a")), step.run("b", () => logger.debug("in b"))]);
    logger.error(new TypeError("almost"));
    if (attempt === 0) throw new Error("once more");
    return "done";
  });
  await open(ship);
  await inlet.send({ name: "shop/order", data: {} });
  const run = (await ended(ship)) as unknown as Logged;
  assert.deepEqual([run.status, run.output], ["completed", "done"]);
  const names = new Map(run.steps.map(({ id, name }) => [id, name]));
  const lines = run.calls.flatMap(({ attempt, logs }) =>
    (logs?.lines ?? []).map(({ level, message, stepId }) => [attempt, stepId && names.get(stepId), level, message.split("\n")[0]]),
  );
  assert.deepEqual(
    lines.filter(([, step]) => step !== "a" && step !== "b"),
    [
      [0, null, "info", 'begin {"n":1}'],
      [0, "label", "warn", "printing — é😀 [1]"],
      [1, null, "info", 'begin {"n":1}'],
      [1, "label", "warn", "printing — é😀 [1]"],
      [0, null, "error", "TypeError: almost"],
      [1, null, "error", "TypeError: almost"],
    ],
  );
  assert.deepEqual(lines.filter(([, step]) => step === "a" || step === "b").sort(), [
    [0, "a", "debug", "in a"],
    [0, "b", "debug", "in b"],
  ]);
  assert.deepEqual(
    run.calls.slice(-2).map(({ httpStatus, answer }) => [httpStatus, answer.body.includes("almost")]),
    [
      [500, false],
      [200, false],
    ],
  );
  assert.equal(run.calls.at(-1)?.answer.body, '"done"');
});

test("more than is kept is counted, not sent; nothing that is logged can fail a call; middleware's loggers work", async (t) => {
  const stage = await setStage(t, "start", [REDACTING]);
  const circular: Record<string, unknown> = { big: 1n };
  circular.self = circular;
  const many = await runOf(stage, (logger) => {
    logger.info(
      circular,
      {
        get bad() {
          throw new Error("no");
        },
      },
      undefined,
      null,
    );
    for (let i = 0; i < 300; i++) logger.info(`line ${i}`);
  });
  const { logs } = many.calls[0] as Logged["calls"][0];
  assert.deepEqual([many.status, logs?.lines.length, logs?.dropped], ["completed", 100, 201]);
  assert.equal(logs?.lines[0]?.message, "[cannot be shown as text] [cannot be shown as text] undefined null");
  const long = (await runOf(stage, (logger) => ["x", "y"].map((unit) => logger.info(unit.repeat(100_000))), "long")).calls[0]?.logs;
  assert.deepEqual(
    long?.lines.map(({ message }) => [message.length, message.at(-1)]),
    [
      [2_000, "…"],
      [2_000, "…"],
    ],
  );
  const say = (logger: Logger) => logger.info("key s3cret");
  const wrapped = (await runOf(stage, say, "wrap")).calls[0]?.logs;
  assert.deepEqual(
    wrapped?.lines.map(({ message }) => message),
    ["tenant-1 key ***"],
    "masked before it leaves the app",
  );
  const replaced = (await runOf(stage, say, "replace")).calls[0]?.logs;
  assert.deepEqual(
    replaced?.lines.map(({ message }) => message),
    ["key s3cret"],
  );
});
