/** Groups addresses for limits per address. */

import { isIPv6 } from "node:net";

/** A customer has at least 2^64 IPv6 addresses: they count as one. */
export function addressGroup(ip: string): string {
  // Most are IPv4, and every request of a key that somebody chose asks.
  if (!ip.includes(":")) return ip;
  if (!isIPv6(ip) || ip.toLowerCase().startsWith("::ffff:")) return ip.replace(/^::ffff:/i, "");
  const [head = "", tail] = ip.split("%", 1)[0]?.split("::") ?? [];
  const [before, after] = [head, tail ?? ""].map((part) => (part === "" ? [] : part.split(":")));
  const zeros = tail === undefined ? 0 : 8 - (before?.length ?? 0) - (after?.length ?? 0);
  const groups = [...(before ?? []), ...Array<string>(zeros).fill("0"), ...(after ?? [])];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
