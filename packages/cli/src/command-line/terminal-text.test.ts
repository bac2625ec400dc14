import assert from "node:assert/strict";
import { test } from "node:test";
import { OWN_ESCAPE, printable, styleText } from "./terminal-text.ts";

test("control characters are shown, line ends and tabs are kept", () => {
  assert.equal(printable("a\u001b[2Jb\u009b31mc\u0007\u007f\u0000"), "a\\u001b[2Jb\\u009b31mc\\u0007\\u007f\\u0000");
  assert.equal(printable("one\ttwo\r\nthree\rfour\n"), "one\ttwo\nthree\nfour\n");
  assert.equal(printable("größe 日本 😀"), "größe 日本 😀");
});

test("JSON keeps its values", () => {
  const value = { text: "\u001b]0;title\u0007 \u009b2J \u0085" };
  assert.deepEqual(JSON.parse(printable(JSON.stringify(value))), value);
  assert.deepEqual(JSON.parse(printable('{"a":\r\n1,\r"b":2}')), { a: 1, b: 2 });
});

test("only styles of the command line itself come through", () => {
  assert.equal(printable(`${OWN_ESCAPE}[32mok${OWN_ESCAPE}[39m \u001b[31m`), "\u001b[32mok\u001b[39m \\u001b[31m");
  assert.ok(styleText("green", "a\u001b[2J").includes("a\u001b[2J"));
});
