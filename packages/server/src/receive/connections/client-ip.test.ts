import assert from "node:assert/strict";
import { test } from "node:test";
import { createClientIp, dropForwardedPorts } from "./client-ip.ts";

type Request = Parameters<ReturnType<typeof createClientIp>>[0];
const request = (remoteAddress: string | undefined, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded } }) as Request;

test("without trusted proxies the client is who is connected, whatever a header says", () => {
  const clientIp = createClientIp(false);
  assert.equal(clientIp(request("203.0.113.1", "198.51.100.7")), "203.0.113.1");
  assert.equal(clientIp(request(undefined)), "");
});

test("with any proxy trusted it is the first that the header names", () => {
  const clientIp = createClientIp(true);
  assert.equal(clientIp(request("10.0.0.1", "198.51.100.7, 10.0.0.2")), "198.51.100.7");
  assert.equal(clientIp(request("10.0.0.1")), "10.0.0.1");
});

test("with some proxies trusted it is the last that is none of them", () => {
  const clientIp = createClientIp(["10.0.0.0/8", "::1"]);
  assert.equal(clientIp(request("10.0.0.1", "1.1.1.1, 198.51.100.7, 10.0.0.2")), "198.51.100.7");
  assert.equal(clientIp(request("::1", "198.51.100.7")), "198.51.100.7");
  assert.equal(clientIp(request("203.0.113.1", "198.51.100.7")), "203.0.113.1", "a stranger's header is not believed");
});

test("ports that a proxy appends are no part of an address", () => {
  const clientIp = createClientIp(["10.0.0.0/8", "::1"]);
  const cases = {
    "198.51.100.7:52100": "198.51.100.7",
    "1.1.1.1:1, 198.51.100.7:52100, 10.0.0.2:443": "198.51.100.7",
    "[2001:db8::7]:443": "2001:db8::7",
    "[2001:db8::7]": "2001:db8::7",
    "2001:db8::7": "2001:db8::7",
    "::ffff:198.51.100.7": "::ffff:198.51.100.7",
    unknown: "unknown",
  };
  for (const [forwarded, address] of Object.entries(cases)) {
    const sent = request("10.0.0.1", forwarded);
    dropForwardedPorts(sent);
    assert.equal(clientIp(sent), address, forwarded);
  }
});
