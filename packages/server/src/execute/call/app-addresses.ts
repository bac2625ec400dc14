/**
 * Which addresses apps may have. A person with an API key names an app's address, and an app may redirect: neither may lead the service to
 * what only it can reach and nobody meant.
 *
 * Addresses are looked at after names were resolved, and on the connection itself, so that a name that leads elsewhere the second time it is
 * asked for (DNS rebinding) gains nothing. Redirects make connections of their own and are looked at like any other.
 */

import { type LookupAddress, lookup as resolve } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";

export interface AddressRules {
  mode: "allow" | "deny";
  /** Addresses and CIDR ranges. */
  ranges: readonly string[];
}

/** Link-local addresses, among them the metadata services of most clouds, and the others that clouds use for that. No app lives there. */
const NEVER = [
  "169.254.0.0/16",
  "fe80::/10",
  "fd00:ec2::254",
  "fd20:ce::254",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  // The same through NAT64.
  "64:ff9b::a9fe:0/112",
  "64:ff9b::6464:64c8",
];

export class AddressRefused extends Error {
  override readonly name = "AddressRefused";
}

export class AppAddresses {
  readonly #never = blockList(NEVER);
  readonly #rules: { mode: AddressRules["mode"]; ranges: BlockList } | null;

  /** Null: every address but those that no app has. */
  constructor(rules: AddressRules | null) {
    this.#rules = rules && { mode: rules.mode, ranges: blockList(rules.ranges) };
  }

  /** Why a connection to this address may not be made; null when it may. */
  refusal(address: string): AddressRefused | null {
    const plain = address.split("%", 1)[0] ?? "";
    if (contains(this.#never, plain)) return new AddressRefused(`${address} is a link-local or metadata address, where no app is called`);
    if (!this.#rules) return null;
    const isListed = contains(this.#rules.ranges, plain);
    if (isListed === (this.#rules.mode === "allow")) return null;
    return new AddressRefused(`--app-addresses does not let apps have the address ${address}`);
  }

  /** Resolves a name as Node does, and leaves out what is refused. */
  readonly lookup: LookupFunction = (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, []);
      const admitted = found.filter(({ address }) => !this.refusal(address));
      const [first] = admitted as [LookupAddress?];
      if (!first) return done(this.refusal(found[0]?.address ?? "") ?? new AddressRefused(`${hostname} has no address`), []);
      if (options.all) done(null, admitted);
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

/** An IPv4 address in the form of IPv6 (`::ffff:a9fe:a9fe`) counts as what it is. */
function contains(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, family(address));
}

function family(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}
