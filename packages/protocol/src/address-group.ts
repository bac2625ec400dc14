/** Which addresses count as one where clients are limited by address. */

import { isIPv6 } from "node:net";

/** One customer has 2^64 addresses of IPv6 at least: they count as one. */
export function addressGroup(ip: string): string {
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
