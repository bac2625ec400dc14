import assert from "node:assert/strict";
import { test } from "node:test";
import { copyOf } from "./event-copy.ts";

test("a copy has what was sent, in its own text, and nothing the service added", () => {
  const text = `{"id":"01JCQ7V8Z0ABCDEFGHJKMNPQRS","name":"a/b","data":{"n":1.0, "n":12345678901234567890},"ts":5,"receivedAt":"x","environment":"e","source":{},"duplicates":2,"dedupId":"d\\u0031","v":"1.0","user":{"x":1e400}}`;
  const copy = copyOf(text);
  assert.equal(copy.body, `{"name":"a/b","data":{"n":1.0, "n":12345678901234567890},"ts":5,"v":"1.0","user":{"x":1e400},"id":"d\\u0031"}`);
  assert.deepEqual([copy.id, copy.name], ["01JCQ7V8Z0ABCDEFGHJKMNPQRS", "a/b"]);
});
