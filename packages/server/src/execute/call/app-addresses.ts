/**
 * Which addresses apps may have. A person with an API key chooses an app's URL, and an app may redirect: neither may make the service
 * connect to hosts that only it can reach and that were not meant to be called.
 *
 * Addresses are checked after name resolution, and on the connection itself, so that a name that resolves differently the second time
 * (DNS rebinding) gains nothing. Redirects open their own connections and are checked in the same way.
 */

import { type LookupAddress, lookup as resolve } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

export interface AddressRules {
  mode: "allow" | "deny";
  /** Addresses and CIDR ranges. */
  ranges: readonly string[];
}

/** Link-local addresses, which include the metadata services of most clouds, and the other metadata addresses. No app has them. */
const NEVER = ["169.254.0.0/16", "fe80::/10", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"];

export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

export class AppAddresses {
  readonly #never = blockList(NEVER);
  readonly #rules: { mode: AddressRules["mode"]; ranges: BlockList } | null;

  /** Null: every address except the ones that are always refused. */
  constructor(rules: AddressRules | null) {
    this.#rules = rules && { mode: rules.mode, ranges: blockList(rules.ranges) };
  }

  /** Why a connection to this address is refused; null if it is allowed. */
  refusal(address: string): AddressRefused | null {
    const plain = address.split("%", 1)[0] ?? "";
    const carried = carriedIpv4(plain);
    const isIn = (list: BlockList) => contains(list, plain) || (carried !== null && contains(list, carried));
    if (isIn(this.#never)) return new AddressRefused(`${address} is a link-local or metadata address, which apps may not use`);
    if (!this.#rules) return null;
    const { mode, ranges } = this.#rules;
    if (mode === "allow" ? contains(ranges, plain) : !isIn(ranges)) return null;
    return new AddressRefused(`--app-addresses does not allow the address ${address}`);
  }

  /** Resolves a name as Node does, and leaves out refused addresses. */
  readonly lookup: LookupFunction = (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const allowed = found.filter(({ address }) => !this.refusal(address));
      const [first] = allowed as [LookupAddress?];
      if (!first) return done(this.refusal(found[0]?.address ?? "") ?? new AddressRefused(`${hostname} has no address`), []);
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", prefix] = range.split("/");
    if (prefix === undefined) list.addAddress(address, family(address));
    else list.addSubnet(address, Number(prefix), family(address));
  }
  return list;
}

/** An IPv4-mapped IPv6 address (`::ffff:a9fe:a9fe`) is checked as the IPv4 address. */
function contains(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, family(address));
}

/** NAT64 (the well-known prefix, RFC 6052) and 6to4 lead to the IPv4 address inside. */
const NAT64 = "64:ff9b:0:0:0:0:";
const SIX_TO_FOUR = "2002:";

/** The IPv4 address that packets to this IPv6 address are sent on to, or null. */
function carriedIpv4(address: string): string | null {
  if (isIP(address) !== 6) return null;
  const whole = wholeIpv6(address);
  const groups = whole.split(":");
  if (whole.startsWith(NAT64)) return ipv4Of(groups.slice(6));
  return whole.startsWith(SIX_TO_FOUR) ? ipv4Of(groups.slice(1, 3)) : null;
}

/** All eight groups, without leading zeros. */
function wholeIpv6(address: string): string {
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [first = [], last = []] = shortest.split("::").map((part) => part.split(":").filter(Boolean));
  return [...first, ...Array(8 - first.length - last.length).fill("0"), ...last].join(":");
}

function ipv4Of(groups: readonly string[]): string {
  return groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]).join(".");
}

function family(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}
