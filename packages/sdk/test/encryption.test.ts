/** `encryptionMiddleware`: the service stores nothing readable, and functions read everything. */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import { createDefer, Inlet } from "@inlet/sdk";
import { encryptionMiddleware } from "@inlet/sdk/encryption";
import { runFunction } from "@inlet/sdk/testing";
import { test } from "../../server/test/support/both-stores.ts";
import { storedText } from "../../server/test/support/store-contents.ts";
import { setStage } from "./service-stage.ts";
import { quiet } from "./test-app.ts";

const KEY = "1f".repeat(32);
const OLD_KEY = "2e".repeat(32);
/** Occurs in everything that the test sends and returns. */
const SECRET = "plaintext-4242";

for (const mode of ["dev", "start"] as const) {
  test(`${mode}: everything that a run stores is encrypted, and everything that its code reads is not`, async (t) => {
    const { inlet, open, ended, service } = await setStage(t, mode, [encryptionMiddleware({ key: KEY, readable: ["orderId"] })]);
    let tries = 0;
    const tax = inlet.createFunction({ id: "tax" }, { event: "shop/never" }, ({ event }) => ({ net: event.data.net, is: SECRET }));
    const late = createDefer(inlet, { id: "late" }, ({ event }) => event.data.note);
    const pay = inlet.createFunction({ id: "pay" }, { event: "shop/asked" }, async ({ event, step }) => {
      await step.sendEvent("paid", { name: "shop/paid", data: { orderId: event.data.orderId, by: SECRET } });
      return event.data.text;
    });
    const order = inlet.createFunction(
      { id: "order", retries: 1, onFailure: ({ event }) => event.data.event.data.text },
      { event: "shop/ordered", if: "event.data.orderId == '7'" },
      async ({ event, step, defer, logger }) => {
        logger.info("in the log", { text: SECRET });
        defer("late", { function: late, data: { note: SECRET } });
        const [left, right] = await Promise.all([
          step.run("left", (text: string) => ({ text, at: new Date(0) }), event.data.text as string),
          step.run("right", () => [SECRET, 1, null]),
        ]);
        const flaky = await step.run("flaky", () => {
          if (tries++ === 0) throw new Error("once");
          return SECRET;
        });
        await step.sendEvent("ask", { name: "shop/asked", data: { orderId: event.data.orderId, text: SECRET } });
        const paid = await step.waitForEvent("paid", { event: "shop/paid", timeout: "1m", match: "data.orderId" });
        const invoked = await step.invoke("tax", { function: tax, data: { net: SECRET } });
        const nothing = await step.run("nothing", () => undefined);
        if (event.data.fails) throw new Error("failed on purpose");
        const all = { left, right, flaky, by: paid?.data.by, invoked, nothing };
        assert.deepEqual(all, {
          left: { text: SECRET, at: "1970-01-01T00:00:00.000Z" },
          right: [SECRET, 1, null],
          flaky: SECRET,
          by: SECRET,
          invoked: { net: SECRET, is: SECRET },
          nothing: null,
        });
        return all;
      },
    );
    await open(tax, late, pay, order);
    const { ids } = await inlet.send({ name: "shop/ordered", data: { orderId: "7", text: SECRET } });
    const run = await ended(order, ids[0]);
    assert.equal(run.status, "completed", JSON.stringify(run.error));
    assert.deepEqual(Object.keys(run.output as object), ["$inlet.encrypted"]);
    const failing = await inlet.send({ name: "shop/ordered", data: { orderId: "7", text: SECRET, fails: true } });
    assert.equal((await ended(order, failing.ids[0])).error?.message, "failed on purpose");
    const decode = encryptionMiddleware({ key: KEY }).decode;
    const failure = await ended({ ...order, id: "order-failure" });
    assert.equal(failure.status, "completed", JSON.stringify(failure.error));
    assert.equal(await decode?.(failure.output), SECRET);
    assert.equal(await decode?.((await ended(late)).output), SECRET);
    // An event of a sender without the middleware.
    const plain = await service.send({ name: "shop/asked", data: { orderId: "8", text: "readable" } });
    assert.equal(await decode?.((await ended(pay, plain.body.ids[0])).output), "readable");
    await service.stop();
    const stored = await storedText(service);
    assert(stored.includes("$inlet.encrypted"), "the test reads the store");
    assert(!stored.includes(SECRET), "plaintext in the store");
  });
}

testOnce("a key is rotated by keys; a wrong key and a changed value are clear errors; what is not encrypted passes", async () => {
  const old = encryptionMiddleware({ key: OLD_KEY });
  const rotated = encryptionMiddleware({ keys: [KEY, OLD_KEY] });
  const sealed = (await old.encode?.({ text: SECRET })) as Record<string, string>;
  assert.deepEqual(await rotated.decode?.(sealed), { text: SECRET });
  const renewed = await rotated.encode?.(SECRET);
  assert.equal(await encryptionMiddleware({ key: KEY, keys: [OLD_KEY] }).decode?.(renewed), SECRET);
  await assert.rejects(
    async () => old.decode?.(renewed),
    /^Error: A value is encrypted with the key [0-9a-f]{8}, which encryptionMiddleware does not have \(it has [0-9a-f]{8}\)\. Add it to keys$/,
  );
  const field = "$inlet.encrypted";
  const text = sealed[field] as string;
  const flipped = { [field]: `${text.slice(0, -6)}${text.at(-6) === "A" ? "B" : "A"}${text.slice(-5)}` };
  await assert.rejects(async () => old.decode?.(flipped), /was changed or cut/);
  await assert.rejects(async () => old.decode?.({ [field]: "x" }), /not in a known form/);
  const untouched = { a: [1, null, { b: "c" }], d: true };
  assert.deepEqual(await old.decode?.(untouched), untouched);
  for (const key of ["", "ab", `${"zz".repeat(32)}`])
    assert.throws(() => encryptionMiddleware({ key }), /32 bytes as 64 hexadecimal digits/);
  assert.throws(() => encryptionMiddleware({}), /needs a key/);
});

testOnce("a readable field that somebody changed does not count", async () => {
  const { encode, decode } = encryptionMiddleware({ key: KEY, readable: ["amount", "absent"] });
  const sealed = (await encode?.({ amount: 1, text: SECRET })) as object;
  assert.deepEqual(Object.keys(sealed), ["amount", "$inlet.encrypted"]);
  assert.deepEqual(await decode?.({ ...sealed, amount: 1000, _inngest: {} }), { amount: 1, text: SECRET, _inngest: {} });
});

test("a run without the key fails with a sentence, and the test kit shows plain values", async (t) => {
  const sealing = encryptionMiddleware({ key: OLD_KEY });
  const { inlet, open, ended, service } = await setStage(t, "dev", [encryptionMiddleware({ key: KEY })]);
  const fn = inlet.createFunction({ id: "f", retries: 0 }, { event: "x" }, ({ event, step }) => step.run("s", () => event.data.text));
  await open(fn);
  const other = new Inlet({ id: "other", isDev: true, baseUrl: service.url, logger: quiet, middleware: [sealing] });
  await other.send({ name: "x", data: { text: SECRET } });
  const { status, error } = await ended(fn);
  assert.equal(status, "failed");
  assert.match(error?.message ?? "", /encrypted with the key [0-9a-f]{8}, which encryptionMiddleware does not have/);
  const { result, steps } = await runFunction(fn, { event: { data: { text: "a" } } });
  assert.deepEqual([result, steps[0]?.data], ["a", "a"]);
});

test("an event without data, or with null, has {} for its function, also if it was encrypted as null", async (t) => {
  const encryption = encryptionMiddleware({ key: KEY });
  const { inlet, open, ended, service } = await setStage(t, "dev", [encryption]);
  const fn = inlet.createFunction({ id: "bare", retries: 0 }, { event: "x" }, ({ event }) => [event.data, Object.keys(event.data)]);
  const sender = inlet.createFunction({ id: "sender", retries: 0 }, { event: "y" }, ({ step }) =>
    step.sendEvent("send", [{ name: "x" }, { name: "x", data: null }] as never),
  );
  await open(fn, sender);
  const { ids } = await inlet.send([{ name: "x" }, { name: "x", data: null }, { name: "y", data: {} }] as never);
  const stored = await service.send({ name: "x", data: await encryption.encode?.(null) });
  const sent = (await encryption.decode?.((await ended(sender)).output)) as { ids: string[] };
  for (const id of [ids[0], ids[1], ...sent.ids]) {
    const { data } = (await service.rest("GET", `/events/${id}`)).body.data as { data: unknown };
    assert.deepEqual(await encryption.decode?.(data), {}, "also for those who read it elsewhere, as the result of a wait");
  }
  for (const id of [ids[0], ids[1], ...sent.ids, stored.body.ids[0]]) {
    const { status, output } = await ended(fn, id);
    assert.deepEqual([status, await encryption.decode?.(output)], ["completed", [{}, []]]);
  }
});
