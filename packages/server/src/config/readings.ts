/** Parsers of setting values. A reading throws a SettingFault whose message completes "--flag …". */

import { BlockList, isIP } from "node:net";
import {
  ENCRYPTION_KEY_UNITS_MIN,
  formatDuration,
  isPlaceholderKey,
  isSigningKey,
  KEY_UNITS_MAX,
  PLACEHOLDER_RULE,
  parseDuration,
  SIGNING_KEY_RULE,
} from "@inlet/protocol";

export interface Reading<Value> {
  /** The placeholder of the value in `--help`. */
  placeholder: string;
  parse(text: string): Value;
}

export class SettingFault extends Error {}

export const KIB = 1024;
export const MIB = 1024 * KIB;

const SIZE_UNITS_BYTES: Readonly<Record<string, number>> = { b: 1, kb: KIB, mb: MIB, gb: 1024 * MIB };

export function text(placeholder: string): Reading<string> {
  return {
    placeholder,
    parse(given) {
      if (given.trim() === "") throw new SettingFault("must not be empty");
      return given.trim();
    },
  };
}

/** The text of a key chosen by a person. */
export function key(): Reading<string> {
  return {
    placeholder: "key",
    parse(given) {
      const chosen = text("key").parse(given);
      if (chosen.length > KEY_UNITS_MAX) throw new SettingFault(`must have at most ${KEY_UNITS_MAX} characters`);
      if (isPlaceholderKey(chosen)) throw new SettingFault(PLACEHOLDER_RULE);
      return chosen;
    },
  };
}

export function signingKey(): Reading<string> {
  return {
    placeholder: "key",
    parse(given) {
      const chosen = key().parse(given);
      if (!isSigningKey(chosen)) throw new SettingFault(SIGNING_KEY_RULE);
      return chosen;
    },
  };
}

export function encryptionKey(): Reading<string> {
  return {
    placeholder: "key",
    parse(given) {
      const chosen = text("key").parse(given);
      if (chosen.length < ENCRYPTION_KEY_UNITS_MIN) {
        throw new SettingFault(`must have at least ${ENCRYPTION_KEY_UNITS_MIN} characters, such as the output of openssl rand -hex 32`);
      }
      return chosen;
    },
  };
}

export function integer(min: number, max: number): Reading<number> {
  return {
    placeholder: "number",
    parse(given) {
      const value = Number(given);
      if (!/^\d+$/.test(given) || value < min || value > max) throw new SettingFault(`must be a whole number from ${min} to ${max}`);
      return value;
    },
  };
}

export function oneOf<Choice extends string>(...choices: Choice[]): Reading<Choice> {
  return {
    placeholder: choices.join("|"),
    parse(given) {
      const choice = choices.find((candidate) => candidate === given);
      if (!choice) throw new SettingFault(`must be one of ${choices.join(", ")}`);
      return choice;
    },
  };
}

export function duration(minMs: number, maxMs: number): Reading<number> {
  return bounded("duration", toMilliseconds, formatDuration, minMs, maxMs, 'such as "250ms", "30s" or "24h"');
}

export function size(minBytes: number, maxBytes: number): Reading<number> {
  return bounded("size", toBytes, formatBytes, minBytes, maxBytes, 'such as "512kb" or "4mb"');
}

/** "none" means no limit. */
export function orNone<Value>(reading: Reading<Value>): Reading<Value | null> {
  return { placeholder: `${reading.placeholder}|none`, parse: (given) => (given.trim() === "none" ? null : reading.parse(given)) };
}

export function diskBudget(minBytes: number): Reading<number | "auto" | null> {
  const bounded = size(minBytes, 1024 ** 3 * MIB);
  return {
    placeholder: "size|auto|none",
    parse(given) {
      if (given.trim() === "auto") return "auto";
      return orNone(bounded).parse(given);
    },
  };
}

/** Several values separated by commas. */
export function list<Value>(item: Reading<Value>): Reading<Value[]> {
  return {
    placeholder: `${item.placeholder}[,…]`,
    parse: (given) => given.split(",").map((part) => item.parse(part)),
  };
}

/** The URL of a PostgreSQL database, or "off" if it is optional. */
export function postgresUrl({ orOff = false } = {}): Reading<string> {
  return {
    placeholder: orOff ? "postgres://…|off" : "postgres://…",
    parse(given) {
      if (orOff && given === "off") return given;
      if (!/^postgres(ql)?:\/\//.test(given) || !URL.canParse(given))
        throw new SettingFault("must be an address such as postgres://user:password@host:5432/database");
      return given;
    },
  };
}

/** A folder, or a bucket of S3-compatible storage with an optional prefix. */
export function archiveUrl(): Reading<string> {
  return {
    placeholder: "s3://bucket/prefix|file:///folder",
    parse(given) {
      const { protocol, hostname, pathname, username, search, hash } = URL.canParse(given) ? new URL(given) : NO_URL;
      const isPlain = username === "" && search === "" && hash === "";
      const isFolder = protocol === "file:" && hostname === "" && pathname !== "/";
      const isBucket = protocol === "s3:" && /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(hostname) && !pathname.includes("//");
      if (!isPlain || !(isFolder || isBucket))
        throw new SettingFault("must be an address such as s3://bucket/prefix or file:///var/lib/inlet-archive");
      return given;
    },
  };
}

const NO_URL = { protocol: "", hostname: "", pathname: "", username: "", search: "", hash: "" };

/** An HTTP URL, stored without a trailing slash. */
export function url(): Reading<string> {
  return {
    placeholder: "url",
    parse(given) {
      if (!/^https?:\/\//.test(given) || !URL.canParse(given))
        throw new SettingFault("must be an address that starts with http:// or https://");
      return given.replace(/\/+$/, "");
    },
  };
}

/** An HTTP URL that contains a placeholder. */
export function urlWith(part: string): Reading<string> {
  return {
    placeholder: "url",
    parse(given) {
      const trimmed = given.trim();
      if (!/^https?:\/\/\S+$/.test(trimmed) || !URL.canParse(trimmed) || !trimmed.includes(part))
        throw new SettingFault(`must be an address that starts with http:// or https:// and contains ${part}`);
      return trimmed;
    },
  };
}

export interface ListenAddress {
  host: string;
  port: number;
}

/** `host:port`; an IPv6 address is in brackets. */
export function listenAddress(): Reading<ListenAddress> {
  return {
    placeholder: "host:port",
    parse(given) {
      const [, v6, name, digits = ""] = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(given.trim()) ?? [];
      const host = v6 ?? name;
      if (host === undefined || Number(digits) > 65_535 || (v6 !== undefined && isIP(v6) !== 6))
        throw new SettingFault("must be a host and a port, such as 127.0.0.1:9464 or [::1]:9464");
      return { host, port: Number(digits) };
    },
  };
}

/** The value that a browser sends in `Origin` for pages of this URL. */
export function origin(): Reading<string> {
  return {
    placeholder: "origin",
    parse(given) {
      const parsed = URL.parse(given.trim());
      const isOrigin =
        parsed && /^https?:$/.test(parsed.protocol) && parsed.pathname === "/" && parsed.search + parsed.hash + parsed.username === "";
      if (!isOrigin) throw new SettingFault("must be the origin of a page, such as http://localhost:3000");
      return parsed.origin;
    },
  };
}

export function trustedProxies(): Reading<boolean | string[]> {
  return {
    placeholder: "true|CIDR[,…]",
    parse(given) {
      if (given === "true" || given === "false") return given === "true";
      const ranges = given.split(",").map((part) => part.trim());
      const wrong = ranges.find((range) => !isRange(range));
      if (wrong !== undefined) throw new SettingFault("must be true, false or a list of addresses and CIDR ranges such as 10.0.0.0/8");
      return ranges;
    },
  };
}

export interface AddressList {
  mode: "allow" | "deny";
  ranges: string[];
}

export function addressList(): Reading<AddressList> {
  return {
    placeholder: "allow:CIDR[,…]|deny:CIDR[,…]",
    parse(given) {
      const [, mode, list = ""] = /^(allow|deny):(.*)$/.exec(given.trim()) ?? [];
      const ranges = list.split(",").map((part) => part.trim());
      if (mode === undefined || !ranges.every(isRange))
        throw new SettingFault('must be "allow:" or "deny:" and a list of addresses and CIDR ranges, such as allow:10.0.0.0/8,fd00::/8');
      return { mode: mode as AddressList["mode"], ranges };
    },
  };
}

function bounded(
  placeholder: string,
  read: (given: string) => number | null,
  format: (value: number) => string,
  min: number,
  max: number,
  examples: string,
): Reading<number> {
  return {
    placeholder,
    parse(given) {
      const value = read(given.trim().toLowerCase());
      if (value === null) throw new SettingFault(`must be a ${placeholder} ${examples}`);
      if (value < min || value > max) throw new SettingFault(`must be from ${format(min)} to ${format(max)}`);
      return value;
    },
  };
}

function toMilliseconds(given: string): number | null {
  // A bare 0 would be the only number without a unit.
  return given === "0" ? null : parseDuration(given.replaceAll(" ", ""));
}

function toBytes(given: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/.exec(given);
  const unit = SIZE_UNITS_BYTES[match?.[2] ?? ""];
  return match && unit ? Math.round(Number(match[1]) * unit) : null;
}

/** In the largest unit that gives a whole number. */
function formatBytes(bytes: number): string {
  const [name, factor] = Object.entries(SIZE_UNITS_BYTES).findLast(([, unit]) => bytes >= unit && bytes % unit === 0) ?? ["", 1];
  return `${bytes / factor}${name}`;
}

function isRange(range: string): boolean {
  const [address = "", prefix] = range.split("/");
  const family = isIP(address);
  if (!family) return false;
  if (prefix === undefined) return true;
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 6 ? "ipv6" : "ipv4");
    return /^\d+$/.test(prefix);
  } catch {
    return false;
  }
}
