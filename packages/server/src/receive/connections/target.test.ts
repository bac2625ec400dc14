import assert from "node:assert/strict";
import { test } from "node:test";
import { keyTextOf, originForm, queryOf } from "./target.ts";

test("the key is what stands between /e/ and the query", () => {
  const keys: Record<string, string> = {
    "/e/key": "key",
    "/e/key?a=1": "key",
    "/e/": "",
    "/e/?a=%20": "",
    "/e/a%2Fb": "a/b",
    "/e/a%2Fb?c=%zz": "a/b",
    "/e/100%": "100%",
    "/e/%zz": "%zz",
    "/e/a?b?c": "a",
  };
  for (const [target, key] of Object.entries(keys)) assert.equal(keyTextOf(target), key, target);
});

test("the query is what stands after the first question mark, as it came", () => {
  const queries: Record<string, string> = { "/e/key": "", "/e/key?": "", "/e/key?a=%20&b": "a=%20&b", "/e/key?a?b": "a?b" };
  for (const [target, query] of Object.entries(queries)) assert.equal(queryOf(target), query, target);
});

test("a whole URL is taken for its path and query", () => {
  const targets: Record<string, string> = {
    "/e/key?a=http://b/c": "/e/key?a=http://b/c",
    "http://host/e/key?a": "/e/key?a",
    "HTTPS://user@[::1]:8288//e/key": "//e/key",
    "http://host": "/",
    "http://host?a": "/?a",
    "*": "*",
    "ftp://host/e/key": "ftp://host/e/key",
  };
  for (const [target, path] of Object.entries(targets)) assert.equal(originForm(target), path, target);
});
