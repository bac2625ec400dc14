import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "./csv.ts";

test("CSV quotes what needs it, keeps numbers as they are, and starts no formula", () => {
  const items = [
    '{"id":"1","data":{"n":9007199254740993,"t":"a,b"},"note":null}',
    '{"id":"=SUM(A1)","name":"say \\"hi\\"\\nthere","ts":12}',
  ];
  assert.equal(
    csvOf(items),
    ["id,data,note,name,ts", '1,"{""n"":9007199254740993,""t"":""a,b""}",,,', '\'=SUM(A1),,,"say ""hi""\nthere",12', ""].join("\r\n"),
  );
  assert.equal(csvOf(['{"=cmd()":1,"@a,b":2}']), ["'=cmd(),\"'@a,b\"", "1,2", ""].join("\r\n"), "a sender chooses the names of members");
  assert.equal(csvOf([]), "\r\n");
});
