/** Lists of addresses: single ones and CIDR ranges, IPv4 and IPv6. */

import { BlockList, isIP } from "node:net";
import { type AcceptList, listAdmits } from "@inlet/protocol";

const compiled = new WeakMap<AcceptList, BlockList>();

export function ipAdmitted(list: AcceptList | null, address: string): boolean {
  if (!list) return true;
  const plain = unmapped(address);
  return listAdmits(list, isIP(plain) !== 0 && rangesOf(list).check(plain, family(plain)));
}

/** Whether a text is an address or a range such as `10.0.0.0/8`. */
export function isIpRange(text: string): boolean {
  try {
    addRange(new BlockList(), text);
    return true;
  } catch {
    return false;
  }
}

function rangesOf(list: AcceptList): BlockList {
  const known = compiled.get(list);
  if (known) return known;
  const ranges = new BlockList();
  for (const range of list.list) addRange(ranges, range);
  compiled.set(list, ranges);
  return ranges;
}

function addRange(ranges: BlockList, text: string): void {
  const [address = "", prefix, ...rest] = text.split("/");
  if (isIP(address) === 0 || rest.length > 0) throw new TypeError(`${text} is not an address`);
  if (prefix === undefined) return ranges.addAddress(address, family(address));
  if (!/^\d+$/.test(prefix)) throw new TypeError(`${text} is not a range`);
  ranges.addSubnet(address, Number(prefix), family(address));
}

/** A socket that listens on both families shows 10.0.0.1 as ::ffff:10.0.0.1. */
function unmapped(address: string): string {
  return address.toLowerCase().startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

function family(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
