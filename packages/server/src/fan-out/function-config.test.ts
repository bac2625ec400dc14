import assert from "node:assert/strict";
import { test } from "node:test";
// Written after the source of these SDKs.
import go from "../../test/fixtures/registrations/inngest-go.json" with { type: "json" };
// What inngest 4.24 and 3.54 sent for functions with every option, as captured.
import jsV3 from "../../test/fixtures/registrations/inngest-js-v3.json" with { type: "json" };
import jsV4 from "../../test/fixtures/registrations/inngest-js-v4.json" with { type: "json" };
import py from "../../test/fixtures/registrations/inngest-py.json" with { type: "json" };
import { type FunctionConfig, readFunctionConfig } from "./function-config.ts";

const DAY_MS = 86_400_000;
const URL = "http://localhost:3000/api/inngest?fnId=shop-plain&stepId=step";
const PLAIN = {
  id: "shop-plain",
  name: "plain",
  triggers: [{ event: "shop/a" }],
  steps: { step: { id: "step", name: "step", runtime: { type: "http", url: URL } } },
};

function read(registered: unknown): FunctionConfig {
  const outcome = readFunctionConfig(registered);
  if ("faults" in outcome) assert.fail(outcome.faults.join("\n"));
  return outcome.config;
}

function faultsOf(fields: object): string[] {
  const outcome = readFunctionConfig({ ...PLAIN, ...fields });
  return "faults" in outcome ? outcome.faults : [];
}

function readAll({ functions }: { functions: unknown[] }): Map<string, FunctionConfig> {
  return new Map(functions.map(read).map((config) => [config.id, config]));
}

/** The fields that are not as in a function without options. */
function differing(config: FunctionConfig | undefined): Partial<FunctionConfig> {
  const plain = read(PLAIN);
  const { id: _id, name: _name, url: _url, raw: _raw, ...rest } = config as FunctionConfig;
  return Object.fromEntries(
    Object.entries(rest).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(plain[field as keyof FunctionConfig])),
  );
}

test("a function without options gets the defaults", () => {
  assert.deepEqual(read(PLAIN), {
    id: "shop-plain",
    name: "plain",
    triggers: [{ event: "shop/a", expression: null }],
    url: URL,
    retries: 4,
    concurrency: [],
    throttle: null,
    rateLimit: null,
    debounce: null,
    batch: null,
    priority: null,
    singleton: null,
    ordering: null,
    cancelOn: [],
    timeouts: { startMs: null, finishMs: null },
    raw: PLAIN,
  });
});

for (const [name, registration] of Object.entries({ jsV3, jsV4 }))
  test(`every option of the JavaScript SDK is read: ${name}`, () => {
    const functions = readAll(registration);
    const expected: Record<string, Partial<FunctionConfig>> = {
      "shop-plain": {},
      "shop-many": {
        triggers: [
          { event: "shop/a", expression: "event.data.n > 1" },
          { event: "shop/*", expression: null },
          { cron: "TZ=Europe/Paris 0 12 * * 5", schedule: "0 12 * * 5", timezone: "Europe/Paris", jitterMs: null },
        ],
      },
      "shop-flow": {
        retries: 2,
        concurrency: [{ limit: 3, key: null, scope: "fn", counts: "steps" }],
        throttle: { limit: 10, periodMs: 60_000, burst: 2, key: "event.data.u" },
        priority: { expression: "event.data.vip ? 100 : 0" },
        timeouts: { startMs: 10_000, finishMs: 5_400_000 },
        cancelOn: [
          { event: "shop/x", expression: "event.data.u == async.data.u", timeoutMs: 3_600_000 },
          { event: "shop/y", expression: "async.data.u == event.data.u", timeoutMs: null },
          { event: "shop/z", expression: null, timeoutMs: null },
        ],
      },
      "shop-flow-failure": {
        triggers: [{ event: "inngest/function.failed", expression: "event.data.function_id == 'shop-flow'" }],
        retries: 1,
      },
      "shop-conc": {
        concurrency: [
          { limit: 5, key: "event.data.u", scope: "env", counts: "steps" },
          { limit: 1, key: null, scope: "fn", counts: "steps" },
        ],
      },
      "shop-conc1": { concurrency: [{ limit: 5, key: '"x"', scope: "account", counts: "steps" }] },
      "shop-rate": { rateLimit: { limit: 5, periodMs: 3_600_000, burst: null, key: "event.data.u" } },
      "shop-deb": { debounce: { periodMs: 300_000, key: "event.data.u", timeoutMs: 3_600_000 } },
      "shop-batch": { batch: { maxSize: 10, timeoutMs: 5_000, key: "event.data.u", if: "event.data.n > 1" } },
      "shop-single": { singleton: { key: "event.data.u", mode: "cancel" } },
      "shop-idem": { rateLimit: { limit: 1, periodMs: DAY_MS, burst: 0, key: "event.data.u" } },
      "shop-cron": {
        triggers: [{ cron: "0 * * * *", schedule: "0 * * * *", timezone: null, jitterMs: name === "jsV4" ? 30_000 : null }],
      },
      "shop-none": { triggers: [], retries: 0 },
    };
    assert.deepEqual([...functions.keys()], Object.keys(expected));
    for (const [id, options] of Object.entries(expected)) assert.deepEqual({ ...differing(functions.get(id)) }, options, id);
  });

test("what the Go SDK registers is read", () => {
  const functions = readAll(go);
  assert.deepEqual(differing(functions.get("shop-plain")), {});
  assert.deepEqual(differing(functions.get("shop-flow")), {
    triggers: [
      { event: "shop/a", expression: null },
      { cron: "0 12 * * 5", schedule: "0 12 * * 5", timezone: null, jitterMs: null },
    ],
    retries: 3,
    concurrency: [{ limit: 2, key: "event.data.u", scope: "fn", counts: "steps" }],
    priority: { expression: "event.data.vip ? 100 : 0" },
    rateLimit: { limit: 1, periodMs: DAY_MS, burst: 0, key: "event.data.u" },
    throttle: { limit: 1, periodMs: 60_000, burst: 0, key: null },
    debounce: { periodMs: 10_000, key: null, timeoutMs: null },
    timeouts: { startMs: 60_000, finishMs: 3_600_000 },
    cancelOn: [{ event: "shop/x", expression: "event.data.u == async.data.u", timeoutMs: null }],
    singleton: { key: null, mode: "skip" },
  });
});

test("what the Python SDK registers is read", () => {
  assert.deepEqual(differing(readAll(py).get("shop-batch")), {
    retries: 1,
    concurrency: [{ limit: 5, key: null, scope: "fn", counts: "steps" }],
    throttle: { limit: 2, periodMs: 7 * DAY_MS, burst: 1, key: null },
    batch: { maxSize: 10, timeoutMs: 60_000, key: null, if: null },
    timeouts: { startMs: 10_000, finishMs: null },
  });
});

test("the newer form of concurrency limits runs and steps apart; a limit of 0 is none; retries have a ceiling", () => {
  const concurrency = { fn: [{ limit: 1, key: "event.data.u" }], step: [{ limit: 9 }] };
  assert.deepEqual(read({ ...PLAIN, concurrency }).concurrency, [
    { limit: 1, key: "event.data.u", scope: "fn", counts: "runs" },
    { limit: 9, key: null, scope: "fn", counts: "steps" },
  ]);
  assert.deepEqual(read({ ...PLAIN, concurrency: 0 }).concurrency, []);
  assert.equal(read({ ...PLAIN, retries: 50 }).retries, 20);
});

test("unknown fields are kept", () => {
  assert.deepEqual(read({ ...PLAIN, checkpoint: { a: 1 } }).raw.checkpoint, { a: 1 });
});

test("every fault is a sentence that names function and field", () => {
  const cases: [object, string[]][] = [
    [{ id: "" }, ["Function (without id): id is required."]],
    [{ id: 7 }, ["Function (without id): id must be a string."]],
    [
      { steps: {} },
      ["Function shop-plain: steps.step.runtime.url must be the address of the function, starting with http:// or https://."],
    ],
    [
      { steps: { step: { id: "step", runtime: { type: "http", url: "http://me:secret@127.0.0.1/" } } } },
      ["Function shop-plain: steps.step.runtime.url must not contain a user name or a password."],
    ],
    [{ triggers: "shop/a" }, ["Function shop-plain: triggers must be a list."]],
    [
      { concurrency: { fn: [{ limit: 1, key: "event.data.u", scope: "env" }] } },
      ["Function shop-plain: concurrency.fn[0].scope must be fn: runs are counted by function."],
    ],
    [{ concurrency: { fn: [{ limit: 1 }, { limit: 2 }] } }, ["Function shop-plain: concurrency.fn has 2 entries, at most 1 may be given."]],
    [{ triggers: [7] }, ["Function shop-plain: triggers[0] must be an object."]],
    [{ triggers: [{}] }, ["Function shop-plain: triggers[0].event is required, unless there is a cron."]],
    [
      { triggers: [{ event: "shop*" }] },
      ["Function shop-plain: triggers[0].event may have a * only at its end, after / or . (or be just *)."],
    ],
    [
      { triggers: [{ event: "a", expression: "event.data." }] },
      ["Function shop-plain: triggers[0].expression is not an expression: Expected name, got end of the expression at character 12."],
    ],
    [
      { triggers: [{ event: "a", expression: "async.data.x == 1" }] },
      ["Function shop-plain: triggers[0].expression uses async, which exists only in waits and cancellations: use event."],
    ],
    [{ triggers: [{ event: "a" }, { event: "a" }] }, ["Function shop-plain: triggers has the same trigger twice."]],
    [
      { triggers: Array.from({ length: 11 }, (_, i) => ({ event: `a${i}` })) },
      ["Function shop-plain: triggers has 11 entries, at most 10 may be given."],
    ],
    [
      { triggers: [{ cron: "* * *" }] },
      ["Function shop-plain: triggers[0].cron must have five fields: minute, hour, day of month, month, day of week."],
    ],
    [
      { triggers: [{ cron: "TZ=Mars/Base * * * * *" }] },
      ["Function shop-plain: triggers[0].cron names the time zone Mars/Base, which is not known."],
    ],
    [{ triggers: [{ cron: "* * * * *", jitter: "1h" }] }, ["Function shop-plain: triggers[0].jitter must be from 1s to 5m."]],
    [{ concurrency: -1 }, ["Function shop-plain: concurrency must be a whole number from 0."]],
    [{ concurrency: [{ limit: 1, scope: "env" }] }, ["Function shop-plain: concurrency[0].key is required when the scope is env."]],
    [{ concurrency: { limit: 1, scope: "ENV" } }, ["Function shop-plain: concurrency.key is required when the scope is env."]],
    [{ concurrency: { limit: 1, scope: "x" } }, ["Function shop-plain: concurrency.scope must be fn, env or account."]],
    [
      { concurrency: [{ limit: 1 }, { limit: 2 }, { limit: 3 }] },
      ["Function shop-plain: concurrency has 3 entries, at most 2 may be given."],
    ],
    [
      { throttle: { limit: 0, period: "soon" } },
      [
        "Function shop-plain: throttle.limit must be a whole number from 1.",
        'Function shop-plain: throttle.period must be a duration such as "30s", "5m" or "1h30m".',
      ],
    ],
    [{ throttle: {} }, ["Function shop-plain: throttle.limit is required.", "Function shop-plain: throttle.period is required."]],
    [{ rateLimit: { limit: 1, period: "25h" } }, ["Function shop-plain: rateLimit.period must be from 1ms to 1d."]],
    [{ debounce: { period: "8d" } }, ["Function shop-plain: debounce.period must be from 1s to 7d."]],
    [
      { batchEvents: { maxSize: 1, timeout: "1s" }, cancel: [{ event: "x" }] },
      [
        "Function shop-plain: batchEvents.maxSize must be a whole number from 2 to 10000.",
        "Function shop-plain: batchEvents cannot be combined with cancel.",
      ],
    ],
    [{ singleton: { mode: "both" } }, ["Function shop-plain: singleton.mode must be skip or cancel."]],
    [{ ordering: {} }, ["Function shop-plain: ordering.key is required."]],
    [{ ordering: { key: "event.data.u", onFailure: "stop" } }, ["Function shop-plain: ordering.onFailure must be continue or hold."]],
    [
      { ordering: { key: "event.data.u" }, priority: { run: "1" }, idempotency: "event.data.u", concurrency: { fn: [{ limit: 2 }] } },
      [
        "Function shop-plain: ordering cannot be combined with rateLimit or idempotency.",
        "Function shop-plain: ordering cannot be combined with priority.",
        "Function shop-plain: ordering cannot be combined with concurrency.fn.",
      ],
    ],
    [
      { cancel: [{ event: "shop/*" }] },
      ["Function shop-plain: cancel[0].event must be the whole name of an event: a pattern would never cancel anything."],
    ],
    [{ cancel: Array(6).fill({ event: "x" }) }, ["Function shop-plain: cancel has 6 entries, at most 5 may be given."]],
    [
      { cancel: [{ event: "", timeout: 5 }] },
      [
        "Function shop-plain: cancel[0].event is required.",
        'Function shop-plain: cancel[0].timeout must be a duration such as "30s", "5m" or "1h30m".',
      ],
    ],
    [
      { priority: { run: "foo" } },
      [
        "Function shop-plain: priority.run is not an expression: unknown variable foo: there are event and, in waits and cancellations, async.",
      ],
    ],
    [{ timeouts: [] }, ["Function shop-plain: timeouts must be an object."]],
    [{ idempotency: 1 }, ["Function shop-plain: idempotency must be a string."]],
  ];
  for (const [fields, expected] of cases) assert.deepEqual(faultsOf(fields), expected, JSON.stringify(fields));
  assert.match(faultsOf({ triggers: [{ cron: "61 * * * *" }] })[0] ?? "", /^Function shop-plain: triggers\[0\]\.cron cannot be read: .*61/);
  for (const registered of [null, [], "x", 7])
    assert.deepEqual(readFunctionConfig(registered), { faults: ["A function must be registered as an object."] });
});

test("unknown fields of triggers are refused where asked for, each by its name, and else ignored", () => {
  const triggers = [
    { event: "shop/a", iff: "true", expression: null },
    { cron: "0 9 * * *", timezone: "Europe/Paris", event: null },
    { cron: "0 8 * * *", jitter: "2s" },
    { event: "shop/b", cron: null, x: null },
  ];
  const strict = readFunctionConfig({ ...PLAIN, triggers }, { isStrict: true });
  assert.deepEqual("faults" in strict && strict.faults, [
    "Function shop-plain: triggers[0].iff is not a field here; known are event and expression.",
    "Function shop-plain: triggers[1].timezone is not a field here; known are cron and jitter.",
    "Function shop-plain: triggers[3].x is not a field here; known are event and expression.",
  ]);
  assert.deepEqual(faultsOf({ triggers }), []);
});
