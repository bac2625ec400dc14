import assert from "node:assert/strict";
import { test } from "node:test";
import { type Claims, type OidcRoleRule, personOf } from "./oidc-claims.ts";

const ISSUER = "https://id.example";
const RULES: OidcRoleRule[] = [
  { claim: "groups", given: { value: "ops", role: "operator" } },
  { claim: "groups", given: { value: "staff", role: "viewer" } },
  { claim: "inlet_role", given: null },
];
const person = (claims: Omit<Claims, "sub">) => personOf(ISSUER, { sub: "1", ...claims }, RULES);

test("the highest role counts, from any claim, as one value or as a list", () => {
  assert.equal(person({ groups: ["staff", "ops", "others"] })?.role, "operator");
  assert.equal(person({ groups: "staff" })?.role, "viewer");
  assert.equal(person({ groups: "staff", inlet_role: ["metrics", "admin"] })?.role, "admin");
});

test("claims that are missing, of another type or of unknown values give no role", () => {
  const groups: unknown[] = [undefined, null, 7, true, {}, { ops: true }, [], [["ops"]], [{ name: "ops" }], "ops staff", "OPS", "operator"];
  for (const value of groups) assert.equal(person({ groups: value }), null, JSON.stringify(value));
  for (const value of ["superuser", "", 1, ["Owner"]]) assert.equal(person({ inlet_role: value }), null, JSON.stringify(value));
});

test("a person is the issuer's subject; the name is what people recognise, bounded", () => {
  const named = (claims: Record<string, unknown>) => person({ groups: "ops", ...claims });
  assert.deepEqual(named({ email: "jane@example.com" }), { subject: `${ISSUER} 1`, name: "jane@example.com", role: "operator" });
  assert.equal(named({ email: "", preferred_username: "jane" })?.name, "jane");
  assert.equal(named({ email: 5 })?.name, "1");
  assert.equal(named({ name: "x".repeat(500) })?.name.length, 200);
});
