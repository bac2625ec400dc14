import assert from "node:assert/strict";
import { test } from "node:test";
import { type RequestRow, toRequest, writeQuery } from "./request-rows.ts";

const read = (headers: string, query: string) => {
  const { headers: list, query: text } = toRequest({ headers, query } as RequestRow);
  return [JSON.parse(list), text];
};

test("headers and query come back as they were written, whatever they look like", () => {
  for (const query of ["", "a=1&b=%C3%A9+x&a=2", "?a", "{}", '{"a":["1"]}']) {
    assert.deepEqual(read('["x-a","1","X-A","2"]', writeQuery(query)), [["x-a", "1", "X-A", "2"], query]);
  }
});

test("records of the first version are read as the request that comes nearest to them", () => {
  assert.deepEqual(read('{"X-A":"1, 2","Content-Encoding":"gzip"}', '{"a":["1","2"],"b":["é x"]}'), [
    ["X-A", "1, 2"],
    "a=1&a=2&b=%C3%A9+x",
  ]);
  assert.deepEqual(read("{}", "{}"), [[], ""]);
});
