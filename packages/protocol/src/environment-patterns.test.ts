import assert from "node:assert/strict";
import { test } from "node:test";
import { coversEnvironments, isEnvironmentPattern, matchesEnvironment } from "./environment-patterns.ts";

test("names, beginnings that end in -*, and branch are patterns", () => {
  for (const text of ["payments", "branch", "payments-*", "a/b-*", "a-b-*"]) assert.ok(isEnvironmentPattern(text), text);
  for (const text of ["", "*", "-*", "payments*", "pay*ments", "payments-**", "a b", "payments-*-x", "é", `${"a".repeat(127)}-*`])
    assert.ok(!isEnvironmentPattern(text), text);
});

test("a pattern matches its environments and no other", () => {
  const [custom, branch, shared] = [
    (name: string) => ({ name, kind: "custom" }),
    (name: string) => ({ name, kind: "branch" }),
    { name: "branch", kind: "shared" },
  ];
  assert.ok(matchesEnvironment("payments", custom("payments")));
  assert.ok(!matchesEnvironment("payments", custom("payments-eu")));
  assert.ok(matchesEnvironment("payments-*", custom("payments-eu")));
  for (const name of ["payments", "paymentsx", "x-payments-eu"]) assert.ok(!matchesEnvironment("payments-*", custom(name)), name);
  assert.ok(matchesEnvironment("branch", branch("pr-1")) && matchesEnvironment("branch", shared));
  assert.ok(!matchesEnvironment("branch", custom("pr-1")) && !matchesEnvironment("pr-1", shared));
  assert.ok(matchesEnvironment("pr-1", branch("pr-1")));
});

test("a pattern covers another only with all that the other may come to mean", () => {
  const cases: [outer: string, inner: string, kind: string, is: boolean][] = [
    ["a", "a", "custom", true],
    ["a", "b", "custom", false],
    ["a-*", "a-x", "custom", true],
    ["a-*", "a-x-*", "custom", true],
    ["a-*", "a-*", "custom", true],
    ["a-x-*", "a-*", "custom", false],
    ["a-x", "a-*", "custom", false],
    ["branch", "pr-1", "branch", true],
    ["branch", "pr-1", "custom", false],
    ["branch", "pr-*", "branch", false],
    ["branch", "branch", "shared", true],
    ["pr-*", "branch", "shared", false],
    ["br-*", "branch", "shared", false],
  ];
  for (const [outer, inner, kind, is] of cases) assert.equal(coversEnvironments(outer, inner, kind), is, `${outer} ${inner} ${kind}`);
});
