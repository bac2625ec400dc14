import assert from "node:assert/strict";
import { test } from "node:test";
import { coverGrant, environmentsOf, type Grant, includesEnvironment, roleEverywhere, roleInEnvironment } from "./grants.ts";

const custom = (name: string) => ({ name, kind: "custom" as const });
const kindOf = (name: string) => (name.startsWith("pr-") ? "branch" : "custom");

const GRANTS: Grant[] = [
  { role: "viewer", environments: null },
  { role: "operator", environments: ["payments", "payments-*"] },
  { role: "admin", environments: ["payments-eu"] },
];

test("in each environment the highest role that matches counts", () => {
  assert.equal(roleInEnvironment(GRANTS, custom("payments")), "operator");
  assert.equal(roleInEnvironment(GRANTS, custom("payments-us")), "operator");
  assert.equal(roleInEnvironment(GRANTS, custom("payments-eu")), "admin");
  assert.equal(roleInEnvironment(GRANTS, custom("orders")), "viewer");
  assert.equal(roleInEnvironment(GRANTS.slice(1), custom("orders")), null);
  assert.equal(roleEverywhere(GRANTS), "viewer");
  assert.equal(roleEverywhere(GRANTS.slice(1)), null);
});

test("a principal sees the environments of all its grants", () => {
  assert.equal(environmentsOf(GRANTS), null);
  assert.deepEqual(environmentsOf(GRANTS.slice(1)), ["payments", "payments-*", "payments-eu"]);
  assert.ok(includesEnvironment(["branch"], { name: "pr-1", kind: "branch" }));
  assert.ok(!includesEnvironment([], custom("a")) && includesEnvironment(null, custom("a")));
});

test("nobody gives more than they have", () => {
  const own: Grant[] = [{ role: "admin", environments: ["a", "a-*", "branch"] }];
  const may = (role: Grant["role"], environments: string[] | null) => coverGrant(own, { role, environments }, kindOf);
  assert.ok(may("admin", ["a"]) && may("viewer", ["a", "a-x", "a-x-*"]) && may("metrics", ["branch", "pr-1"]));
  for (const environments of [null, ["b"], ["a", "b"], ["aa"], ["pr-*"], ["*"]])
    assert.ok(!may("viewer", environments), String(environments));
  assert.ok(!may("owner", ["a"]));
  const two: Grant[] = [
    { role: "operator", environments: ["a"] },
    { role: "admin", environments: ["b"] },
  ];
  assert.ok(!coverGrant(two, { role: "admin", environments: ["a", "b"] }, kindOf));
  assert.ok(coverGrant(two, { role: "operator", environments: ["a", "b"] }, kindOf));
});
