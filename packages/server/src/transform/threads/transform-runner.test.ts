/** The runner's ordinary life: every form a transform may have, what it receives, what may come back, and how faults are told. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { testRunner } from "./run-for-test.ts";
import { createTransformRunner } from "./transform-runner.ts";

const { runner, run, event, failure } = testRunner();
after(() => runner.stop());

describe("the forms of a transform", () => {
  const forms = {
    "a function declaration": `function transform(evt, headers = {}, queryParams = {}, raw = "") { return { name: "a", data: evt }; }`,
    "an async function declaration": `async function transform(evt) { await null; return { name: "a", data: evt }; }`,
    "a constant": `const transform = (evt) => ({ name: "a", data: evt });`,
    "a variable that is assigned": `var transform; transform = function (evt) { return { name: "a", data: evt }; }`,
    "a default export of a declaration": `export default function transform(evt) { return { name: "a", data: evt }; }`,
    "a default export without a name": `export default function (evt) { return { name: "a", data: evt }; }`,
    "a default export of an arrow function": `export default (evt) => ({ name: "a", data: evt });`,
    "a default export of an async arrow function": `export default async (evt) => ({ name: "a", data: evt });`,
    "a default export in a list": `const f = (evt) => ({ name: "a", data: evt });\nexport { f as default };`,
    "a named export": `export const transform = (evt) => ({ name: "a", data: evt });`,
    "a lone function expression": `function (evt) { return { name: "a", data: evt }; }`,
    "a lone function expression and a semicolon": `function (evt) { return { name: "a", data: evt }; };\n`,
    "a lone async function expression": `async function (evt) { return { name: "a", data: evt }; }`,
    "a lone function with another name": `function fromStripe(evt) { return { name: "a", data: evt }; }`,
    "a lone arrow function": `(evt) => ({ name: "a", data: evt })`,
    "a lone arrow function after a comment": `// why\nevt => ({ name: "a", data: evt });`,
    "other functions before it": `const name = () => "a";\nclass Shape {}\nfunction transform(evt) { return { name: name(), data: evt }; }`,
  };
  for (const [form, source] of Object.entries(forms)) {
    it(`${form} is found and called`, async () => {
      assert.deepEqual(await event(source, { evtJson: `{"x":[1]}` }), { name: "a", data: { x: [1] } });
      assert.deepEqual(await runner.check(source), { ok: true });
    });
  }

  it("a source without a function is refused with a hint", async () => {
    for (const source of ["", "const x = 1", "const transform = 5", "export const x = 1", "export default 5"]) {
      const outcome = await failure(source);
      assert.equal(outcome.code, "transform_failed");
      assert.match(outcome.message, /no transform function was found/);
      assert.equal((await runner.check(source)).ok, false);
    }
  });
});

describe("what a transform receives", () => {
  it("evt, headers, queryParams and raw", async () => {
    const raw = `{"n":1,"text":"zażółć \\ud83d\\ude00 😀"}`;
    const seen = await event(`(evt, headers, queryParams, raw) => ({ evt, headers, queryParams, raw })`, {
      evtJson: raw,
      raw,
      headers: { "X-Example-Event": "ping", Via: "1.1 a, 1.1 b" },
      queryParams: { a: ["1", "2"], b: [""] },
    });
    assert.deepEqual(seen, {
      evt: { n: 1, text: "zażółć 😀 😀" },
      headers: { "X-Example-Event": "ping", Via: "1.1 a, 1.1 b" },
      queryParams: { a: ["1", "2"], b: [""] },
      raw,
    });
  });

  it("a body that is not an object", async () => {
    for (const body of ["[1,2]", "null", `"text"`, "12"]) {
      assert.deepEqual(await event("(evt) => ({ evt })", { evtJson: body, raw: body }), { evt: JSON.parse(body) });
    }
  });

  it("a byte order mark in raw, but not in front of the JSON", async () => {
    const raw = `\uFEFF{"a":1}`;
    assert.deepEqual(await event("(evt, h, q, raw) => ({ evt, raw })", { evtJson: raw, raw }), { evt: { a: 1 }, raw });
  });

  it("no call at all when the body is not JSON", async () => {
    for (const body of [`{"a":`, "{'a':1}", "", "{} {}", "[1,]", "NaN", "\u00a0{}", "[".repeat(200_000)]) {
      const outcome = await failure(`() => { console.log("called"); return {}; }`, { evtJson: body, raw: body });
      assert.equal(outcome.code, "body_invalid", body.slice(0, 20));
      assert.match(outcome.message, /^The body is/);
      assert.deepEqual(outcome.logs, []);
    }
  });
});

describe("what a transform returns", () => {
  it("is one object, as JSON writes it", async () => {
    const source = `() => ({ name: "a", data: { u: undefined, f() {}, s: Symbol("s"), n: NaN, d: new Date(0), nested: [undefined] } })`;
    assert.deepEqual(await event(source), { name: "a", data: { n: null, d: "1970-01-01T00:00:00.000Z", nested: [null] } });
  });

  it("keeps text of any kind", async () => {
    const source = String.raw`() => ({ text: "\u0000\u2028\"\\ \ud800 ł 😀" })`;
    assert.deepEqual(await event(source), { text: '\u0000\u2028"\\ \ud800 ł 😀' });
  });

  const invalid = {
    nothing: ["() => {}", /returned nothing/],
    null: ["() => null", /returned null/],
    "an array": ["() => [{ name: 'a', data: {} }]", /returned an array/],
    "a proxy of an array": ["() => new Proxy([], {})", /not an object once written as JSON/],
    "a string": ["() => 'x'", /not an object/],
    "a number": ["() => 1", /not an object/],
    "a bigint": ["() => 1n", /not an object/],
    "a symbol": ["() => Symbol('x')", /not an object/],
    "a function": ["() => () => ({})", /returned a function/],
    "a promise of an array": ["async () => []", /returned an array/],
    "a cycle": ["() => { const a = {}; a.a = a; return a; }", /cannot be written as JSON: TypeError: circular reference/],
    "a bigint inside": ["() => ({ a: 1n })", /cannot be written as JSON: TypeError: .*BigInt/],
    "a toJSON that gives something else": ["() => ({ toJSON: () => [] })", /not an object once written as JSON/],
    "a toJSON that gives nothing": ["() => ({ toJSON: () => undefined })", /not an object once written as JSON/],
    "a toJSON that throws": ["() => ({ toJSON() { throw new Error('no') } })", /cannot be written as JSON: Error: no/],
    "a getter that throws": ["() => ({ get a() { throw new Error('no') } })", /cannot be written as JSON: Error: no/],
  } satisfies Record<string, [string, RegExp]>;
  for (const [what, [source, message]] of Object.entries(invalid)) {
    it(`${what} is no event`, async () => {
      const outcome = await failure(source);
      assert.equal(outcome.code, "transform_invalid_event");
      assert.match(outcome.message, message);
    });
  }
});

describe("promises", () => {
  it("are awaited", async () => {
    const source = `async (evt) => {
      const parts = await Promise.all([1, Promise.resolve(2), (async () => { await null; return 3; })()]);
      return new Promise((resolve) => queueMicrotask(() => resolve({ parts })));
    }`;
    assert.deepEqual(await event(source), { parts: [1, 2, 3] });
  });

  it("a rejection is a failure with its place", async () => {
    const outcome = await failure(`async () => {\n  await null;\n  throw new RangeError("far");\n}`);
    assert.deepEqual([outcome.code, outcome.message, outcome.line], ["transform_failed", "RangeError: far", 3]);
  });

  it("one that nothing can settle is told, and does not run into the time limit", async () => {
    const outcome = await failure("() => new Promise(() => {})");
    assert.equal(outcome.code, "transform_failed");
    assert.match(outcome.message, /never settles/);
  });
});

describe("faults are told with their place in the user's own source", () => {
  const places = {
    "a thrown error": [`function transform(evt) {\n  const a = 1;\n  throw new TypeError("no");\n}`, "TypeError: no", 3, 13],
    "a missing property": [
      `function transform(evt) {\n  return evt.data.object.id;\n}`,
      /cannot read property 'object' of undefined/,
      2,
      10,
    ],
    "an inner function": [`const inner = (e) => e.a.b;\nexport default (evt) => {\n  return inner(evt);\n}`, /'b' of undefined/, 1, 22],
    "a lone function expression": [`function (evt) {\n  return nothing;\n}`, "ReferenceError: nothing is not defined", 2, 10],
    "a top level that throws": [`const x = 1;\nnull.foo;\nfunction transform() {}`, /'foo' of null/, 2, 1],
    "a syntax error": [`function transform(evt) {\n  return {;\n}`, /^SyntaxError: /, 2, 11],
    "a syntax error in a module": [`export default (evt) => {\n  let a = ;\n}`, /^SyntaxError: /, 2, 11],
    "a syntax error in a lone function": [`function (evt) {\n\n  a b;\n}`, /^SyntaxError: /, 3, 5],
    "a source that ends too early": [`function transform(evt) {\n  return {`, /^SyntaxError: /, 2, 11],
  } satisfies Record<string, [string, string | RegExp, number, number]>;
  for (const [what, [source, message, line, column]] of Object.entries(places)) {
    it(what, async () => {
      const outcome = await failure(source);
      assert.equal(outcome.code, "transform_failed");
      if (typeof message === "string") assert.equal(outcome.message, message);
      else assert.match(outcome.message, message);
      assert.deepEqual([outcome.line, outcome.column], [line, column]);
    });
  }

  it("whatever was thrown has a message", async () => {
    const thrown = {
      "'text'": "text",
      null: "null",
      undefined: "undefined",
      "42n": "42",
      "{ a: 1 }": '{"a":1}',
      "Symbol('s')": /cannot be shown/,
    };
    for (const [value, message] of Object.entries(thrown)) {
      const outcome = await failure(`() => { throw ${value}; }`);
      assert.equal(outcome.code, "transform_failed");
      if (typeof message === "string") assert.equal(outcome.message, message);
      else assert.match(outcome.message, message);
    }
  });

  it("check reports a syntax error without running anything", async () => {
    assert.deepEqual(await runner.check(`function transform(evt) {\n  retur n;\n}`), {
      ok: false,
      code: "transform_failed",
      message: "SyntaxError: expecting ';'",
      line: 2,
      column: 9,
    });
  });
});

describe("the console", () => {
  it("keeps one text per call", async () => {
    const source = `() => {
      console.log("a", 1, null, undefined, true, { x: [1, 2n] }, [1], new TypeError("t"), Symbol("s"));
      console.info("i"); console.warn("w"); console.error("e"); console.debug("d"); console.log();
      const cycle = {}; cycle.self = cycle; console.log(cycle);
      return {};
    }`;
    const { logs } = await run(source);
    assert.deepEqual(logs, [
      `a 1 null undefined true {"x":[1,"2n"]} [1] TypeError: t Symbol(s)`,
      "i",
      "w",
      "e",
      "d",
      "",
      "[cannot be shown]",
    ]);
  });

  it("is kept when the transform fails, and begins anew each time", async () => {
    const source = `console.log("top level");\nfunction transform(evt) { console.log("before"); throw new Error("x"); }`;
    for (let i = 0; i < 3; i++) assert.deepEqual((await failure(source)).logs, ["before"]);
  });
});

describe("the runner", () => {
  it("starts no thread before it is used, and stops twice or unused without fuss", async () => {
    const idle = createTransformRunner();
    idle.start();
    idle.start();
    assert.equal(idle.load.threads, 0);
    await idle.stop();
    await idle.stop();
    const outcome = await idle.run({ versionKey: "a", source: "() => ({})", evtJson: "{}", headers: {}, queryParams: {}, raw: "" });
    assert.equal(outcome.ok ? "" : outcome.code, "overloaded");
  });

  it("lets the process end while its threads have nothing to do", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "inlet-test-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const script = join(folder, "run-once.mjs");
    writeFileSync(
      script,
      `import { createTransformRunner } from ${JSON.stringify(import.meta.resolve("./transform-runner.ts"))};
      const request = { versionKey: "a", source: "() => ({})", evtJson: "{}", headers: {}, queryParams: {}, raw: "" };
      console.log((await createTransformRunner().run(request)).eventJson);`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 60_000 });
    assert.equal(stdout, "{}\n");
  });

  it("ends threads that have nothing to do, but for one, and starts others again when they are needed", async (t) => {
    const { runner: resting, event: from } = testRunner({ idleMs: 20, quickThreads: 2 });
    t.after(() => resting.stop());
    const source = "() => ({ n: 1 })";
    for (let round = 0; round < 2; round++) {
      const many = Array.from({ length: 20 }, () => from(source, { versionKey: "same" }));
      assert.deepEqual(await Promise.all(many), Array(20).fill({ n: 1 }));
      while (resting.load.threads > 1) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(resting.load.threads, 1);
    }
  });

  it("lets what runs finish when it stops, and ends what waits", async () => {
    const { runner: stopping, run: begin } = testRunner();
    const outcomes = [begin("() => ({ n: 1 })"), begin("() => ({ n: 2 })"), begin("() => ({ n: 3 })")];
    await stopping.stop();
    const codes = (await Promise.all(outcomes)).map((outcome) => (outcome.ok ? "ok" : outcome.code));
    assert.deepEqual(codes, ["ok", "overloaded", "overloaded"]);
    assert.deepEqual(stopping.load, { running: 0, waiting: 0, threads: 0 });
  });

  it("compiles a version anew when its source changed under the same key", async () => {
    assert.deepEqual(await event("() => ({ v: 1 })", { versionKey: "same" }), { v: 1 });
    assert.deepEqual(await event("() => ({ v: 2 })", { versionKey: "same" }), { v: 2 });
  });

  it("keeps serving when there are more versions than it remembers", async (t) => {
    const { runner: small, event: from } = testRunner({ limits: { versionsMax: 2 } });
    t.after(() => small.stop());
    for (let round = 0; round < 2; round++) {
      for (let n = 0; n < 5; n++) assert.deepEqual(await from(`() => ({ n: ${n} })`), { n });
    }
  });
});
