/**
 * Typed events. Most of this file is checked by the compiler: every `@ts-expect-error` is an assertion, and `same` fails to
 * compile when two types differ.
 */

import assert from "node:assert/strict";
import test from "node:test";
import { type CronEvent, Inlet, type Jsonified, NonRetriableError, SendError } from "@inlet/sdk";
import { runFunction } from "@inlet/sdk/testing";
import * as v from "valibot";
import { z } from "zod";
import { startRecordingService } from "./recording-service.ts";
import { quiet, run } from "./test-app.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function same<A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void {}

const events = {
  "shop/order.created": z.object({ orderId: z.string(), total: z.number() }),
  "shop/order.paid": v.object({ orderId: v.string(), at: v.pipe(v.string(), v.isoTimestamp()) }),
  "shop/order.shipped": z.object({ at: z.coerce.date() }),
  "crm/note": z.object({ text: z.string().optional() }),
};

test("types: the comparison itself tells types apart", () => {
  same<string, string>();
  // @ts-expect-error: not the same
  same<string, number>();
  // @ts-expect-error: not the same
  same<{ a: string }, { a?: string }>();
});

test("types: a typed client sends only what its schemas allow", () => {
  const inlet = new Inlet({ id: "shop", events, isDev: true });
  const never = () => [
    inlet.send({ name: "shop/order.created", data: { orderId: "1", total: 2 }, id: "x", ts: 1 }),
    inlet.send([
      { name: "shop/order.created", data: { orderId: "1", total: 2 } },
      { name: "shop/order.paid", data: { orderId: "1", at: "2030-01-01T00:00:00Z" } },
    ]),
    // @ts-expect-error: no such event
    inlet.send({ name: "shop/order.lost", data: {} }),
    // @ts-expect-error: a field of the wrong type
    inlet.send({ name: "shop/order.created", data: { orderId: 1, total: 2 } }),
    // @ts-expect-error: a field is missing
    inlet.send([{ name: "shop/order.created", data: { orderId: "1" } }]),
    // @ts-expect-error: data of another event
    inlet.send({ name: "shop/order.paid", data: { orderId: "1", total: 2 } }),
    // @ts-expect-error: no data
    inlet.send({ name: "crm/note" }),
  ];
  assert.equal(typeof never, "function");
});

test("types: a handler knows its event", () => {
  const inlet = new Inlet({ id: "shop", events, isDev: true });
  inlet.createFunction({ id: "one" }, { event: "shop/order.created" }, ({ event, events: batch }) => {
    same<typeof event.name, "shop/order.created">();
    same<typeof event.data, { orderId: string; total: number }>();
    same<(typeof batch)[0]["data"], { orderId: string; total: number }>();
    // @ts-expect-error: no such field
    event.data.price;
  });
  inlet.createFunction({ id: "two" }, [{ event: "shop/order.created" }, { event: "crm/note" }], ({ event }) => {
    // @ts-expect-error: only one of the two has it
    event.data.total;
    if (event.name === "crm/note") same<typeof event.data, { text?: string }>();
    else same<typeof event.data.total, number>();
  });
  inlet.createFunction({ id: "pattern" }, { event: "shop/*" }, ({ event }) => {
    same<typeof event.name, "shop/order.created" | "shop/order.paid" | "shop/order.shipped">();
  });
  inlet.createFunction({ id: "cron" }, { cron: "0 * * * *" }, ({ event }) => {
    same<typeof event, CronEvent>();
  });
  // @ts-expect-error: no such event
  inlet.createFunction({ id: "typo" }, { event: "shop/order.craeted" }, () => {});
  inlet.createFunction({ id: "cancelled", cancelOn: [{ event: "shop/order.paid" }] }, { event: "shop/order.created" }, () => {});
  // @ts-expect-error: no such event
  inlet.createFunction({ id: "typo", cancelOn: [{ event: "shop/order.piad" }] }, { event: "shop/order.created" }, () => {});
  // Without validation a date is what JSON made of it; with validation, what the schema made of it.
  inlet.createFunction({ id: "sent" }, { event: "shop/order.shipped" }, ({ event }) => same<typeof event.data.at, unknown>());
  const checking = new Inlet({ id: "shop", events, validate: true, isDev: true });
  checking.createFunction({ id: "checked" }, { event: "shop/order.shipped" }, ({ event }) => same<typeof event.data.at, Date>());
});

test("types: steps know what they yield", () => {
  const inlet = new Inlet({ id: "shop", events, isDev: true });
  const priced = inlet.createFunction({ id: "price" }, { event: "shop/order.created" }, async () => ({ cents: 5, at: new Date(0) }));
  inlet.createFunction(
    { id: "steps", onFailure: ({ event, error }) => [event.data.event.data.orderId.length, error.message] },
    { event: "shop/order.created" },
    async ({ step }) => {
      const ran = await step.run("a", async () => ({
        at: new Date(),
        big: undefined as string | undefined,
        list: [1, null] as const,
        fn: () => 1,
      }));
      same<typeof ran, { at: string; list: [1, null]; big?: string }>();
      same<Awaited<ReturnType<typeof step.sleep>>, void>();
      const nothing = await step.run("b", () => {});
      same<typeof nothing, null>();
      const paid = await step.waitForEvent("c", { event: "shop/order.paid", timeout: "1d" });
      same<NonNullable<typeof paid>["data"], { orderId: string; at: string }>();
      const invoked = await step.invoke("d", { function: priced, data: { orderId: "1", total: 1 } });
      same<typeof invoked, { cents: number; at: string }>();
      const elsewhere = await step.invoke("e", { function: "billing-charge", data: { any: "thing" } });
      same<typeof elsewhere, unknown>();
      await step.run("f", (a: number, b: string) => `${a}${b}`, 1, "x");
      // @ts-expect-error: the body wants two arguments
      await step.run("g", (a: number, b: string) => `${a}${b}`, 1);
      // @ts-expect-error: the invoked function's event has other data
      await step.invoke("h", { function: priced, data: { order: "1" } });
      // @ts-expect-error: no such event
      await step.sendEvent("i", { name: "shop/typo", data: {} });
      // @ts-expect-error: no such event
      await step.waitForEvent("j", { event: "shop/typo", timeout: "1d" });
    },
  );
  same<Jsonified<{ a: Map<string, number>; b: bigint[]; c: { toJSON(): number } }>["c"], number>();
});

test("types: invocations and test runs take what the schema takes, and need what it needs", () => {
  const dated = { "shop/dated": v.object({ at: v.pipe(v.string(), v.toDate()) }), "crm/note": events["crm/note"] };
  const inlet = new Inlet({ id: "shop", events: dated, validate: true, isDev: true });
  const ship = inlet.createFunction({ id: "ship" }, { event: "shop/dated" }, ({ event }) => same<typeof event.data.at, Date>());
  const note = inlet.createFunction({ id: "note" }, { event: "crm/note" }, () => {});
  const hourly = inlet.createFunction({ id: "hourly" }, { cron: "0 * * * *" }, () => {});
  inlet.createFunction({ id: "caller" }, { event: "crm/note" }, async ({ step }) => {
    await step.invoke("a", { function: ship, data: { at: "2030-01-01" } });
    await step.invoke("b", { function: note });
    await step.invoke("c", { function: hourly });
    // @ts-expect-error: the schema's output is not its input
    await step.invoke("d", { function: ship, data: { at: new Date() } });
    // @ts-expect-error: the schema requires data
    await step.invoke("e", { function: ship });
  });
  const never = () => [
    runFunction(ship, { event: { data: { at: "2030-01-01" } } }),
    runFunction(ship, { events: [{ data: { at: "2030-01-01" } }] }),
    runFunction(note),
    runFunction(hourly),
    // @ts-expect-error: the schema's output is not its input
    runFunction(ship, { event: { data: { at: new Date() } } }),
    // @ts-expect-error: the schema requires data
    runFunction(ship, { event: {} }),
    // @ts-expect-error: the schema requires an event with data
    runFunction(ship),
  ];
  assert.equal(typeof never, "function");
});

test("types: a misspelt field of a trigger is a mistake, for the compiler and where the function is created", () => {
  const inlet = new Inlet({ id: "shop", events, isDev: true });
  inlet.createFunction(
    { id: "fine" },
    [{ event: "crm/note", if: "event.data.text != null" }, { cron: "TZ=Europe/Paris 0 9 * * *" }],
    () => {},
  );
  // @ts-expect-error: it is called if
  assert.throws(() => inlet.createFunction({ id: "a" }, { event: "crm/note", iff: "true" }, () => {}), /"a": a trigger is .*"iff"/);
  // @ts-expect-error: it is called if
  assert.throws(() => inlet.createFunction({ id: "a" }, [{ event: "crm/note", expression: "true" }], () => {}), /"expression"/);
  // @ts-expect-error: the time zone is a part of the schedule
  assert.throws(() => inlet.createFunction({ id: "a" }, { cron: "0 9 * * *", timezone: "Europe/Paris" }, () => {}), /TZ=.*"timezone"/);
});

test("types: without schemas data is open", () => {
  const inlet = new Inlet({ id: "shop", isDev: true });
  inlet.createFunction({ id: "open" }, { event: "any/thing" }, ({ event }) => {
    const id: string = event.data.orderId;
    return id;
  });
  // @ts-expect-error: an event has data
  assert.equal(typeof (() => inlet.send({ name: "any/thing" })), "function");
});

test("with validate, what breaks its schema is not sent, and every fault is told", async (t) => {
  const service = await startRecordingService(t);
  const inlet = new Inlet({ id: "shop", events, validate: true, isDev: true, baseUrl: service.url });
  const wrong = { orderId: 7, total: "x" } as unknown as { orderId: string; total: number };
  const error = await inlet
    .send([
      { name: "crm/note", data: {} },
      { name: "shop/order.created", data: wrong },
    ])
    .catch((thrown: unknown) => thrown);
  assert(error instanceof SendError);
  assert.deepEqual(
    [error.code, error.status, error.details.map(({ index, field }) => `${index} ${field}`)],
    ["event_invalid", null, ["1 data.orderId", "1 data.total"]],
  );
  assert.equal(service.requests.length, 0);
  await inlet.send({ name: "shop/order.paid", data: { orderId: "1", at: "2030-01-01T00:00:00Z" } });
  assert.equal(service.requests.length, 1);
});

test("with validate, a handler gets the schema's output, and a payload that breaks it is not retried", async (t) => {
  const inlet = new Inlet({ id: "shop", events, validate: true, isDev: true, logger: quiet });
  const fn = inlet.createFunction({ id: "ship" }, { event: "shop/order.shipped" }, async ({ event, step }) => {
    const paid = await step.waitForEvent("paid", { event: "shop/order.paid", timeout: "1d" });
    return [event.data.at.getUTCFullYear(), paid?.data.orderId];
  });
  const event = { name: "shop/order.shipped", data: { at: "2030-01-01T00:00:00Z" } };
  const paid = { name: "shop/order.paid", data: { orderId: "7", at: "2030-01-01T00:00:00Z" }, id: "2", ts: 1 };
  assert.deepEqual((await run(t, fn, { event, outcomes: { paid } })).output, [2030, "7"]);
  const broken = await run(t, fn, { event: { ...event, data: { at: "someday" } }, maxAttempts: 5 });
  assert.deepEqual([broken.status, broken.calls.length, (broken.output as Error).name], ["failed", 1, NonRetriableError.name]);
  assert.match((broken.output as Error).message, /event shop\/order\.shipped breaks its schema: data\.at/);
});

test("with validate, an invocation stands for an event of the invoked function: its data is checked on both sides", async (t) => {
  const inlet = new Inlet({ id: "shop", events, validate: true, isDev: true, logger: quiet });
  const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.shipped" }, ({ event }) => event.data.at.getUTCFullYear());
  const either = inlet.createFunction({ id: "either" }, [{ event: "shop/order.shipped" }, { event: "shop/order.created" }], ({ event }) =>
    Object.keys(event.data),
  );
  const invoked = (data: object) => ({ name: "inngest/function.invoked", data: { ...data, _inngest: { source_fn_id: "x" } } });
  assert.equal((await run(t, ship, { event: invoked({ at: "2030-01-01" }) })).output, 2030);
  const broken = await run(t, ship, { event: invoked({ at: "someday" }), maxAttempts: 5 });
  assert.deepEqual([broken.status, broken.calls.length, (broken.output as Error).name], ["failed", 1, NonRetriableError.name]);
  assert.match((broken.output as Error).message, /invocation of "ship" breaks its schema: data\.at/);
  assert.deepEqual((await run(t, either, { event: invoked({ orderId: "1", total: 2 }) })).output, ["orderId", "total"]);
  assert.equal((await run(t, either, { event: invoked({ orderId: "1" }) })).status, "failed");
  const caller = inlet.createFunction({ id: "caller" }, { event: "crm/note" }, ({ event, step }) =>
    step.invoke("ship", { function: ship, data: { at: event.data.text } }),
  );
  const mocks = { steps: { ship: 2030 } };
  assert.equal((await runFunction(caller, { event: { data: { text: "2030-01-01" } }, ...mocks })).result, 2030);
  const refused = await runFunction(caller, { event: { data: { text: "someday" } }, ...mocks });
  assert.match(refused.error?.message ?? "", /invocation of "ship" breaks its schema: data\.at/);
  assert.deepEqual(refused.steps, []);
});

test("with validate, an invocation that is refused before it is awaited fails the run, and does not end the process", async (t) => {
  const inlet = new Inlet({ id: "shop", events, validate: true, isDev: true, logger: quiet });
  const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.shipped" }, () => 1);
  const caller = inlet.createFunction({ id: "caller" }, { event: "crm/note" }, async ({ step }) => {
    const shipped = step.invoke("ship", { function: ship, data: { at: "someday" } });
    await step.run("meanwhile", () => 1);
    return shipped;
  });
  const forgetful = inlet.createFunction({ id: "forgetful" }, { event: "crm/note" }, ({ step }) => {
    step.invoke("ship", { function: ship, data: { at: "someday" } });
  });
  const event = { name: "crm/note", data: {} };
  assert.match(((await run(t, caller, { event })).output as Error).message, /invocation of "ship" breaks its schema: data\.at/);
  assert.match(((await run(t, forgetful, { event })).output as Error).message, /Step "ship" was begun and never awaited/);
});
