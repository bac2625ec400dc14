/** Middleware: which hooks run when, in which order, what they may change, and what their errors do. */

import assert from "node:assert/strict";
import test from "node:test";
import { Inlet, type Middleware, NonRetriableError } from "@inlet/sdk";
import { runFunction } from "@inlet/sdk/testing";
import { quiet, run, testApp } from "./test-app.ts";

function recorder(name: string, seen: string[]): Middleware {
  return {
    name,
    beforeSend: ({ events, runId }) => void seen.push(`${name} beforeSend ${events.map((event) => event.name)} ${runId ?? "-"}`),
    afterSend: async ({ ids, error }) => void seen.push(`${name} afterSend ${error ? "failed" : ids?.length}`),
    beforeFunction: ({ function: called, event, attempt }) =>
      void seen.push(`${name} beforeFunction ${called.appId}/${called.id} ${event.name} ${attempt}`),
    afterFunction: ({ result, error }) => void seen.push(`${name} afterFunction ${error ? (error as Error).message : result}`),
    beforeStep: async ({ step, input }) => void seen.push(`${name} beforeStep ${step.kind} ${step.id} ${JSON.stringify(input)}`),
    afterStep: ({ step, result, error }) =>
      void seen.push(`${name} afterStep ${step.id} ${error ? (error as Error).message : JSON.stringify(result)}`),
  };
}

test("hooks run around each send, call and step: before in order, after in reverse", async (t) => {
  const { service } = await testApp(t);
  const seen: string[] = [];
  const middleware = [recorder("a", seen), recorder("b", seen)];
  const inlet = new Inlet({ id: "shop", isDev: true, baseUrl: service.url, logger: quiet, middleware });
  const fn = inlet.createFunction({ id: "f" }, { event: "x" }, async ({ step }) => {
    const double = await step.run("double", (n: number) => n * 2, 4);
    await step.sendEvent("tell", { name: "y", data: {} });
    return double;
  });
  const { output, status } = await run(t, fn, { event: { name: "x", data: {} } });
  assert.deepEqual([status, output], ["completed", 8]);
  const both = (line: string) => [`a ${line}`, `b ${line}`];
  const begin = both("beforeFunction shop/f x 0");
  const runId = seen
    .find((line) => line.includes("beforeSend"))
    ?.split(" ")
    .at(-1);
  assert.notEqual(runId, "-");
  assert.deepEqual(
    seen,
    [
      ...begin,
      ...both("beforeStep run double [4]"),
      ...both("afterStep double 8").toReversed(),
      ...begin,
      ...both("beforeStep sendEvent tell []"),
      ...both(`beforeSend y ${runId}`),
      ...both("afterSend 1").toReversed(),
      ...both('afterStep tell {"ids":["00000000000000000000000001"]}').toReversed(),
      ...begin,
      ...both("afterFunction 8").toReversed(),
    ].map((line) => line.replace(/"ids":\["[^"]*"\]/, `"ids":["${/"ids":\["([^"]*)"\]/.exec(seen.join())?.[1]}"]`)),
  );
});

test("hooks change what is sent, what functions get and return, and what steps get and return; the context is typed", async (t) => {
  const { service } = await testApp(t);
  const inlet = new Inlet({
    id: "shop",
    isDev: true,
    baseUrl: service.url,
    logger: quiet,
    middleware: [
      { name: "tenant", beforeSend: ({ events }) => ({ events: events.map((event) => ({ ...event, user: { tenant: "t1" } })) }) },
      {
        name: "db",
        beforeFunction: async ({ event }) => ({ event: { ...event, data: { n: event.data.n + 1 } }, db: { get: (n: number) => n * 10 } }),
      },
      { name: "clock", beforeFunction: () => ({ now: () => "noon", step: "not replaced" }) },
      {
        name: "units",
        beforeStep: ({ input }) => ({ input: [...input, "cm"] }),
        afterStep: ({ result }) => ({ result: `<${result}>` }),
        afterFunction: ({ result }) => ({ result: { wrapped: result } }),
      },
    ],
  });
  const fn = inlet.createFunction({ id: "f" }, { event: "x" }, async ({ event, events, step, db, now }) => {
    const found: number = db.get(event.data.n);
    const measured = await step.run("measure", (n: number, unit?: string) => `${n}${unit}`, found);
    return [measured, events[0].data.n, now()];
  });
  // @ts-expect-error: no middleware adds it
  inlet.createFunction({ id: "absent" }, { event: "x" }, ({ cache }) => cache);
  const { output } = await run(t, fn, { event: { name: "x", data: { n: 1 } } });
  assert.deepEqual(output, { wrapped: ["<20cm>", 2, "noon"] });
  await inlet.send({ name: "y", data: {} });
  assert.deepEqual(JSON.parse(service.requests.at(-1)?.body ?? ""), [{ name: "y", data: {}, user: { tenant: "t1" } }]);
  const { result } = await runFunction(fn, { event: { data: { n: 1 } } });
  assert.deepEqual(result, { wrapped: ["<20cm>", 2, "noon"] });
});

test("an error of a hook is one of the send, the step or the function; hooks after see errors and may replace them", async (t) => {
  const { service } = await testApp(t);
  const base = { id: "shop", isDev: true, baseUrl: service.url, logger: quiet };
  const fail = (message: string) => () => {
    throw new NonRetriableError(message);
  };
  const failing = (hook: Partial<Middleware>) => {
    const inlet = new Inlet({ ...base, middleware: [{ name: "m", ...hook }] });
    return inlet.createFunction({ id: "f" }, { event: "x" }, ({ step }) => step.run("s", () => "fine"));
  };
  for (const hook of ["beforeFunction", "afterFunction", "beforeStep", "afterStep"] as const) {
    const { status, output } = await run(t, failing({ [hook]: fail(`in ${hook}`) }));
    assert.deepEqual([status, (output as Error).message], ["failed", `in ${hook}`]);
  }
  const wrong = await run(t, failing({ beforeStep: (() => "text") as never }), { maxAttempts: 1 });
  assert.match((wrong.output as Error).message, /Middleware "m": beforeStep has to return an object/);
  const refused = new Inlet({ ...base, middleware: [{ name: "m", beforeSend: fail("no") }] });
  await assert.rejects(refused.send({ name: "x", data: {} }), /^NonRetriableError: no$/);
  const errors: unknown[] = [];
  const away = new Inlet({
    ...base,
    baseUrl: service.url,
    fetch: () => Promise.resolve(new Response("{}", { status: 401 })),
    middleware: [{ name: "m", afterSend: ({ error }) => void errors.push((error as { status: number }).status) }],
  });
  await assert.rejects(away.send({ name: "x", data: {} }));
  assert.deepEqual(errors, [401]);
  const inlet = new Inlet({
    ...base,
    middleware: [
      { name: "m", afterFunction: ({ error }) => (error ? { error: undefined, result: `saved: ${(error as Error).message}` } : undefined) },
    ],
  });
  const saved = await run(t, inlet.createFunction({ id: "f" }, { event: "x" }, fail("lost")));
  assert.deepEqual([saved.status, saved.output], ["completed", "saved: lost"]);
});

test("a middleware without a name or with an unknown hook is refused", () => {
  const made = (middleware: unknown) => () => new Inlet({ id: "shop", middleware: [middleware as Middleware] });
  assert.throws(made({}), /middleware\[0\] needs a name/);
  assert.throws(made({ name: "m", beforeSent() {} }), /Middleware "m" has no hook "beforeSent". The hooks are beforeSend, /);
  assert(!JSON.stringify(new Inlet({ id: "shop", middleware: [{ name: "secret-holder" }] })).includes("secret-holder"));
});
