/**
 * Lists of addresses: single ones and CIDR ranges, IPv4 and IPv6. `BlockList` refuses anything else, and handles the form in which a
 * dual-stack socket shows 10.0.0.1: ::ffff:10.0.0.1.
 */

import { BlockList, isIP } from "node:net";
import { type AcceptList, listAllows } from "@inlet/protocol";

const RANGE = /^(?<address>[^/]+)\/(?<bits>\d+)$/;

const compiled = new WeakMap<AcceptList, BlockList>();

export function ipAllowed(list: AcceptList | null, address: string): boolean {
  if (!list) return true;
  return listAllows(list, isIP(address) !== 0 && rangesOf(list).check(address, family(address)));
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
  const { address = text, bits } = RANGE.exec(text)?.groups ?? {};
  if (bits === undefined) ranges.addAddress(address, family(address));
  else ranges.addSubnet(address, Number(bits), family(address));
}

function family(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
