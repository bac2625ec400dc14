import assert from "node:assert/strict";
import { test } from "node:test";
import { AppAddresses } from "./app-addresses.ts";

const allows = (addresses: AppAddresses, ...texts: string[]) => texts.map((text) => addresses.refusal(text) === null);

test("link-local and metadata addresses are refused always, in every way of writing them", () => {
  const never = ["169.254.169.254", "169.254.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "fe80::1", "fe80::1%eth0"];
  const clouds = ["fd00:ec2::254", "100.100.100.200", "168.63.129.16", "64:ff9b::a9fe:a9fe", "64:ff9b::168.63.129.16", "2002:a9fe:a9fe::1"];
  for (const rules of [null, { mode: "allow", ranges: ["0.0.0.0/0", "::/0"] }] as const) {
    const addresses = new AppAddresses(rules);
    for (const text of [...never, ...clouds]) assert.match(addresses.refusal(text)?.message ?? "", /link-local or metadata/, text);
    assert.deepEqual(allows(addresses, "127.0.0.1", "10.0.0.1", "::1", "fd00::1", "203.0.113.9", "2001:db8::1"), Array(6).fill(true));
  }
});

test("a list allows or denies, addresses and ranges of both families", () => {
  const allow = new AppAddresses({ mode: "allow", ranges: ["10.0.0.0/8", "fd00::/8", "203.0.113.9"] });
  assert.deepEqual(allows(allow, "10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "203.0.113.9"), [true, true, true, true]);
  assert.deepEqual(allows(allow, "127.0.0.1", "203.0.113.8", "2001:db8::1"), [false, false, false]);
  const deny = new AppAddresses({ mode: "deny", ranges: ["127.0.0.0/8", "::1"] });
  assert.deepEqual(allows(deny, "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"), [false, false, false, false]);
  assert.deepEqual(allows(deny, "10.0.0.1", "2001:db8::1"), [true, true]);
  assert.deepEqual(allows(deny, "64:ff9b::7f00:1", "64:FF9B:0::127.0.0.1", "2002:7f09:909::5"), [false, false, false]);
  assert.deepEqual(allows(deny, "64:ff9b::a00:1", "2002:a00:1::", "2002:a00::7f00:1", "64:ff9b:1::7f00:1"), [true, true, true, true]);
  assert.deepEqual(allows(allow, "64:ff9b::a01:203", "2002:a01:203::"), [false, false]);
});

test("a name is resolved to what is allowed, one address or all", async () => {
  const lookUp = (addresses: AppAddresses, all: boolean) =>
    new Promise((resolve, reject) =>
      addresses.lookup("localhost", { all, family: 4 }, (error, found) => (error ? reject(error) : resolve(found))),
    );
  assert.equal(await lookUp(new AppAddresses(null), false), "127.0.0.1");
  assert.deepEqual(await lookUp(new AppAddresses(null), true), [{ address: "127.0.0.1", family: 4 }]);
  await assert.rejects(lookUp(new AppAddresses({ mode: "deny", ranges: ["127.0.0.0/8"] }), true), /--app-addresses does not allow/);
});
