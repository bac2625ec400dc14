import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalHeaders, canonicalName } from "./canonical-headers.ts";
import { parseQuery } from "./field-lists.ts";

describe("header names", () => {
  const names = {
    "x-example-event": "X-Example-Event",
    "X-GITHUB-EVENT": "X-Github-Event",
    "content-type": "Content-Type",
    etag: "Etag",
    "x-1-a--b-": "X-1-A--B-",
    "x_under-Score": "X_under-Score",
    "stripe-signature": "Stripe-Signature",
  };
  for (const [name, canonical] of Object.entries(names)) {
    it(`${name} becomes ${canonical}`, () => assert.equal(canonicalName(name), canonical));
  }
});

describe("headers", () => {
  it("that are repeated are joined, also those Node would drop", () => {
    const headers = canonicalHeaders(["X-A", "1", "x-a", "2", "Content-Type", "a/b", "content-type", "c/d", "Empty", ""]);
    assert.deepEqual({ ...headers }, { "X-A": "1, 2", "Content-Type": "a/b, c/d", Empty: "" });
  });

  it("without a value at the end of the list are left out", () => {
    assert.deepEqual({ ...canonicalHeaders(["a", "1", "b"]) }, { A: "1" });
    assert.deepEqual({ ...canonicalHeaders([]) }, {});
  });

  it("named __proto__ are harmless and kept", () => {
    const headers = canonicalHeaders(["__proto__", "x", "constructor", "y", "__proto__", "z"]);
    assert.equal(JSON.stringify(headers), `{"__proto__":"x, z","Constructor":"y"}`);
    assert.equal(({} as Record<string, unknown>).x, undefined);
  });
});

describe("the query", () => {
  it("has an array for every name", () => {
    for (const query of ["?a=1&a=2&b=", "a=1&a=2&b="]) assert.deepEqual({ ...parseQuery(query) }, { a: ["1", "2"], b: [""] });
    assert.deepEqual({ ...parseQuery("") }, {});
    assert.deepEqual({ ...parseQuery("?") }, {});
    assert.deepEqual({ ...parseQuery("??a&x-service-env=feature%2Fcart") }, { "?a": [""], "x-service-env": ["feature/cart"] });
  });

  it("may name __proto__", () => {
    assert.equal(JSON.stringify(parseQuery("__proto__=1&__proto__=2")), `{"__proto__":["1","2"]}`);
  });
});
