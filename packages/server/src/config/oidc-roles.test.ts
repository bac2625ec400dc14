import assert from "node:assert/strict";
import { test } from "node:test";
import { oidcRoles } from "./oidc-roles.ts";
import { SettingFault } from "./readings.ts";

const { parse } = oidcRoles();

test("a role holds everywhere, or in the environments after its @", () => {
  assert.deepEqual(parse("roles,groups:payments=operator@payments,payments-*,groups:ops=admin,email:a@b.c=viewer@branch"), [
    { claim: "roles", given: null, environments: null },
    { claim: "groups", given: { value: "payments", role: "operator" }, environments: ["payments", "payments-*"] },
    { claim: "groups", given: { value: "ops", role: "admin" }, environments: null },
    { claim: "email", given: { value: "a@b.c", role: "viewer" }, environments: ["branch"] },
  ]);
});

test("what cannot be meant is refused", () => {
  for (const text of [
    "",
    "groups:",
    "groups:x=",
    "groups:x=king",
    "groups:x=operator@",
    "groups:x=operator@*",
    "groups:x=operator@pay*",
    "groups:x=operator@payments,",
    "groups:x=operator@payments,groups:y=admin,payments-eu",
    "groups@payments",
    "groups:x=operator@a@b",
  ])
    assert.throws(() => parse(text), SettingFault, text);
});
