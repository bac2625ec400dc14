import assert from "node:assert/strict";
import { test } from "node:test";
import type { Operation } from "../steps/operations.ts";
import { readGateway } from "./read-gateway.ts";

const read = (opts: object) => readGateway({ op: "gateway", opts } as unknown as Operation);

test("a request of a step that cannot be made is refused with the reason", () => {
  const url = "https://api.example.com/a";
  for (const method of ["CONNECT", "trace", "TRACK", "GET / HTTP/1.1", "G\r\n"]) {
    assert.equal(read({ url, method }), `its method ${JSON.stringify(method)} cannot be used.`);
  }
  for (const other of ["file:///etc/passwd", "//api.example.com", 5, ""])
    assert.equal(read({ url: other }), "its url is not an http(s) URL.");
  assert.equal(read({ url, headers: { "x-a": "b\r\nx-c: d" } }), 'its header "x-a" cannot be sent.');
  assert.deepEqual(read({ url, method: "connected", headers: { Host: "x" } }), { method: "CONNECTED", url, body: null, headers: {} });
});
