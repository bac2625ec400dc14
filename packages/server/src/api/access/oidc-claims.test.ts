import assert from "node:assert/strict";
import { test } from "node:test";
import type { SessionPerson } from "../../store/contract/index.ts";
import { highestRole } from "./grants.ts";
import { type Claims, grantsOf, type OidcRoleRule, type OidcRules, personOf } from "./oidc-claims.ts";

const ISSUER = "https://id.example";
const ROLES: OidcRoleRule[] = [
  { claim: "groups", given: { value: "ops", role: "operator" }, environments: null },
  { claim: "groups", given: { value: "staff", role: "viewer" }, environments: null },
  { claim: "email", given: { value: "jane@example.com", role: "admin" }, environments: null },
  { claim: "inlet_role", given: null, environments: null },
];
const RULES = { issuer: ISSUER, roles: ROLES };
const roleOf = (one: SessionPerson, rules: OidcRules | null) => highestRole(grantsOf(one, rules));
const person = (claims: Omit<Claims, "sub">) => personOf(ISSUER, { sub: "1", ...claims });
const role = (claims: Omit<Claims, "sub">) => roleOf(person(claims), RULES);

test("the highest role counts, from any claim, as one value or as a list", () => {
  assert.equal(role({ groups: ["staff", "ops", "others"] }), "operator");
  assert.equal(role({ groups: "staff" }), "viewer");
  assert.equal(role({ groups: "staff", inlet_role: ["metrics", "admin"] }), "admin");
});

test("claims that are missing, of another type or of unknown values give no role", () => {
  const groups: unknown[] = [undefined, null, 7, true, {}, { ops: true }, [], [["ops"]], [{ name: "ops" }], "ops staff", "OPS", "operator"];
  for (const value of groups) assert.equal(role({ groups: value }), null, JSON.stringify(value));
  for (const value of ["superuser", "", 1, ["Owner"]]) assert.equal(role({ inlet_role: value }), null, JSON.stringify(value));
});

test("an email gives a role, and a name, only if it is verified", () => {
  const email = "jane@example.com";
  assert.equal(role({ email, email_verified: true }), "admin");
  for (const verified of [undefined, false, null, "true", 1, [true]]) {
    assert.equal(role({ email, email_verified: verified }), null, JSON.stringify(verified));
    assert.equal(person({ email, email_verified: verified, preferred_username: "jane" }).name, "jane");
  }
});

test("the rules in force decide, and they are those of the issuer the person signed in at", () => {
  const jane = person({ groups: "ops" });
  assert.equal(
    roleOf(jane, { issuer: ISSUER, roles: [{ claim: "groups", given: { value: "ops", role: "viewer" }, environments: null }] }),
    "viewer",
  );
  assert.equal(roleOf(jane, { issuer: ISSUER, roles: [] }), null);
  assert.equal(roleOf(jane, { ...RULES, issuer: "https://another.example" }), null);
  assert.equal(roleOf(jane, null), null);
});

test("a person is the issuer's subject; the name is what people recognise, bounded; only texts are kept", () => {
  const named = (claims: Record<string, unknown>) => person({ groups: "ops", email_verified: true, ...claims });
  assert.deepEqual(named({ email: "jane@example.com", age: 7 }), {
    issuer: ISSUER,
    subject: `${ISSUER} 1`,
    name: "jane@example.com",
    claims: { sub: ["1"], groups: ["ops"], email: ["jane@example.com"] },
  });
  assert.equal(named({ email: "", preferred_username: "jane" }).name, "jane");
  assert.equal(named({ email: 5 }).name, "1");
  assert.equal(named({ name: "x".repeat(500) }).name.length, 200);
});

test("claims are kept up to a limit, and a role that needs more is not given", () => {
  const many = Array.from({ length: 10_000 }, (_, n) => `group number ${n}`);
  const { claims } = person({ inlet_role: "viewer", groups: [...many, "ops"] });
  assert.deepEqual(Object.keys(claims), ["sub", "inlet_role"]);
});

test("each rule that matches gives its role in its environments", () => {
  const roles: OidcRoleRule[] = [
    { claim: "groups", given: { value: "payments", role: "operator" }, environments: ["payments", "payments-*"] },
    { claim: "groups", given: { value: "all", role: "viewer" }, environments: null },
    { claim: "groups", given: { value: "ops", role: "admin" }, environments: ["ops"] },
  ];
  const grants = grantsOf(person({ groups: ["payments", "all"] }), { issuer: ISSUER, roles });
  assert.deepEqual(grants, [
    { role: "operator", environments: ["payments", "payments-*"] },
    { role: "viewer", environments: null },
  ]);
});
