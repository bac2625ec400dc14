/**
 * Known ways out of JavaScript sandboxes, each tried against this one.
 *
 * There is one reason they all fail: inside, every object belongs to the engine, whose world is a block of bytes. There is no object
 * of the host to climb up from. The cases are kept because they show it, and would notice if that ever changed.
 */

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { testRunner } from "../threads/run-for-test.ts";

const { runner, event, run } = testRunner();
after(() => runner.stop());

/** Names that would mean the host is within reach. */
const HOST_NAMES = [
  ..."process require module exports __dirname __filename Buffer global setTimeout setInterval setImmediate clearTimeout".split(" "),
  ..."fetch XMLHttpRequest WebSocket Request Response Headers URL URLSearchParams TextEncoder TextDecoder Blob FormData".split(" "),
  ..."WebAssembly Worker SharedArrayBuffer Atomics MessageChannel postMessage structuredClone performance navigator crypto".split(" "),
  ..."std os scriptArgs print quickjs bjson Deno Bun window self document parent top gc".split(" "),
];

/** Each returns `{ escaped }`: null, or what it got hold of. */
const attempts = {
  "a function built from a constructor": `() => {
    const get = [].constructor.constructor("return typeof process + typeof require");
    return { escaped: get() === "undefinedundefined" ? null : get() };
  }`,
  "constructors of every argument": `(evt, headers, query, raw) => {
    const names = [evt, headers, query, raw, console, console.log, Math.random, transform].map((v) => v.constructor.constructor("return typeof process")());
    return { escaped: names.every((n) => n === "undefined") ? null : names };
  }`,
  "constructors of async and generator functions": `() => {
    const kinds = [async () => {}, function* () {}, async function* () {}].map((f) => f.constructor);
    const found = kinds.map((F) => { const made = F("return typeof process"); return typeof made; });
    return { escaped: found.every((t) => t === "function") ? null : found };
  }`,
  "this of a plain function": `() => { const self = (function () { return this; })(); return { escaped: self === globalThis ? null : "other" }; }`,
  "caller and arguments.callee": `function transform() {
    const up = (() => { try { return transform.caller; } catch { return null; } })();
    const out = (function () { try { return arguments.callee.caller; } catch { return null; } })();
    return { escaped: (up ?? null) === null && (out === transform || out == null) ? null : "caller" };
  }`,
  "a dynamic import": `async () => {
    const found = [];
    for (const name of ["fs", "node:fs", "os", "std", "qjs:std", "qjs:os", "./thread.ts", "file:///etc/passwd", "data:text/javascript,export default 1", "http://127.0.0.1/"]) {
      try { await import(name); found.push(name); } catch {}
    }
    return { escaped: found.length ? found : null };
  }`,
  "a dynamic import through eval and Function": `async () => {
    const found = [];
    for (const get of [() => eval("import('fs')"), () => Function("return import('fs')")(), () => (0, eval)("import('fs')")]) {
      try { await get(); found.push(String(get)); } catch {}
    }
    return { escaped: found.length ? found : null };
  }`,
  "import.meta": `() => { try { return { escaped: Function("return import.meta")() }; } catch { return { escaped: null }; } }`,
  "prepareStackTrace and call sites": `() => {
    let got = null;
    Error.prepareStackTrace = (error, sites) => {
      for (const site of sites ?? []) {
        const self = site.getThis?.(), fn = site.getFunction?.();
        if ((self && self !== globalThis) || (fn && !(fn instanceof Function))) got = "site";
        const file = site.getFileName?.();
        if (file && file.includes("/")) got = file;
      }
      return "x";
    };
    String(new Error("x").stack);
    try { null.x; } catch (e) { String(e.stack); }
    return { escaped: got };
  }`,
  "paths of the host in a stack trace": `() => {
    const stacks = [];
    try { null.x; } catch (e) { stacks.push(e.stack); }
    try { console.log({ toJSON() { stacks.push(new Error("in log").stack); } }); } catch {}
    try { (function f() { f(); })(); } catch (e) { stacks.push(e.stack); }
    return { escaped: stacks.some((s) => /node|file:|\\.ts|home|work/.test(s)) ? stacks : null };
  }`,
  "an error thrown by the engine for the host": `() => {
    const found = [];
    for (const cause of [() => "x".repeat(-1), () => new Array(-1), () => JSON.parse("{"), () => decodeURIComponent("%"), () => "x".repeat(2 ** 29), () => atob("***")]) {
      try { cause(); } catch (e) { if (!(e instanceof Error) || e.constructor.constructor !== Function) found.push(String(e)); }
    }
    return { escaped: found.length ? found : null };
  }`,
  "the arguments console methods get": `() => {
    let got = null;
    console.log({ get toJSON() { return function () { if (this.constructor?.constructor !== Function) got = "this"; }; } });
    console.log(new Proxy({}, { get(target, key, receiver) { if (receiver?.constructor?.name === "process") got = "proxy"; return undefined; } }));
    return { escaped: got };
  }`,
  "a walk over everything reachable": `() => {
    const seen = new Set(), found = [];
    const walk = (value, path) => {
      if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return;
      seen.add(value);
      if (path.length > 12) return;
      for (const key of Reflect.ownKeys(value)) {
        if (["process", "require", "mainModule", "binding", "_load", "env"].includes(key)) found.push([...path, String(key)].join("."));
        const { value: v, get, set } = Object.getOwnPropertyDescriptor(value, key);
        for (const next of [v, get, set]) walk(next, [...path, String(key)]);
      }
      walk(Object.getPrototypeOf(value), [...path, "__proto__"]);
    };
    walk(globalThis, []);
    walk(transform, ["transform"]);
    return { escaped: found.length ? found : null, objects: seen.size > 500 };
  }`,
  "memory shared with the host": `() => ({ escaped: typeof SharedArrayBuffer === "undefined" && typeof Atomics === "undefined" && typeof WebAssembly === "undefined" ? null : "shared" })`,
  "bytes beyond a buffer": `() => {
    const bytes = new Uint8Array(8), view = new DataView(bytes.buffer), found = [];
    for (const at of [8, 1024, 2 ** 31, 2 ** 32, -1]) {
      if (bytes[at] !== undefined) found.push(at);
      try { view.getUint8(at); found.push(at); } catch {}
    }
    try { new Uint8Array(bytes.buffer, 0, 64); found.push("length"); } catch {}
    const shrinking = new ArrayBuffer(64, { maxByteLength: 128 }), tail = new Uint8Array(shrinking);
    shrinking.resize(8);
    if (tail[32] !== undefined) found.push("resized");
    return { escaped: found.length ? found : null };
  }`,
  "a sort that changes what it sorts": `() => {
    const list = Array.from({ length: 100 }, (_, i) => i);
    list.sort((a, b) => { list.length = 0; return a - b; });
    const other = [1, 2, 3].map((x, i, all) => { all.length = 0; return x; });
    return { escaped: list.every((x) => x === undefined || typeof x === "number") && other.length === 3 ? null : "sort" };
  }`,
} satisfies Record<string, string>;

describe("no way out through", () => {
  for (const [what, body] of Object.entries(attempts)) {
    it(what, async () => {
      const source = body.startsWith("function") ? body : `const transform = ${body};`;
      const { escaped, objects } = await event(source, {
        evtJson: `{"a":1}`,
        raw: `{"a":1}`,
        headers: { A: "b" },
        queryParams: { q: ["1"] },
      });
      assert.equal(escaped, null);
      assert.notEqual(objects, false);
    });
  }
});

it("no name of the host is defined", async () => {
  const source = `() => ({ found: ${JSON.stringify(HOST_NAMES)}.filter((name) => name in globalThis || (0, eval)("typeof " + name) !== "undefined") })`;
  assert.deepEqual(await event(source), { found: [] });
});

it("what is defined is the language, a console, hashes and little else", async () => {
  const { names } = await event("() => ({ names: Object.getOwnPropertyNames(globalThis).filter((name) => /^[a-z]/.test(name)).sort() })");
  assert.deepEqual(names, [
    ..."atob btoa console decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval".split(" "),
    ..."globalThis hmac isFinite isNaN parseFloat parseInt queueMicrotask sha256 undefined unescape".split(" "),
  ]);
});

describe("nothing that comes back can touch the host", () => {
  it("a result with __proto__, constructor or prototype as keys stays plain data", async () => {
    const outcome = await run(
      `() => JSON.parse('{"name":"a","data":{},"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')`,
    );
    assert.ok(outcome.ok);
    assert.match(outcome.eventJson, /"__proto__":\{"polluted":1\}/);
    JSON.parse(outcome.eventJson);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
  });

  it("a body, headers and a query with __proto__ keep it as a key of their own, inside too", async () => {
    const own = (value: object) => Object.assign(Object.create(null), value);
    const headers = own({ A: "b" });
    const queryParams = own({ a: ["1"] });
    Object.defineProperty(headers, "__proto__", { value: "x", enumerable: true });
    Object.defineProperty(queryParams, "__proto__", { value: ["x"], enumerable: true });
    const body = `{"__proto__":{"polluted":1},"a":1}`;
    const source = `(evt, headers, query) => ({
      own: [evt, headers, query].map((o) => Object.hasOwn(o, "__proto__")),
      plain: [evt, headers, query].map((o) => Object.getPrototypeOf(o) === Object.prototype),
      polluted: [evt.polluted, ({}).polluted],
    })`;
    const seen = await event(source, { evtJson: body, raw: body, headers, queryParams });
    assert.deepEqual(seen, { own: [true, true, true], plain: [true, true, true], polluted: [null, null] });
  });

  it("a proxy is read inside, once, as JSON reads it", async () => {
    const source = `() => {
      const reads = [];
      return new Proxy({ name: "a", data: {} }, { get(target, key) { reads.push(String(key)); return key === "data" ? { reads } : target[key]; } });
    }`;
    assert.deepEqual(await event(source), { name: "a", data: { reads: ["toJSON", "name", "data"] } });
  });

  it("built-ins the code replaced are not what writes the event or reads the body", async () => {
    const source = `JSON.stringify = () => '{"forged":1}'; JSON.parse = () => ({ forged: 1 });
      Array.isArray = () => false; String.prototype.toString = () => "x"; Promise.prototype.then = () => { throw new Error("no"); };
      Object.prototype.toJSON = undefined;
      async function transform(evt) { await null; return { name: "a", data: evt }; }`;
    assert.deepEqual(await event(source, { evtJson: `{"real":1}`, raw: `{"real":1}` }), { name: "a", data: { real: 1 } });
  });

  it("an error whose fields are traps is still told", async () => {
    const outcome = await run(`() => {
      const error = new Error("x");
      for (const key of ["name", "message", "stack"]) Object.defineProperty(error, key, { get() { throw error; } });
      throw error;
    }`);
    assert.equal(outcome.ok ? "" : outcome.message, "the code threw a value that cannot be shown");
  });
});
