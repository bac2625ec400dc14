/** Parsers of setting values that are addresses: URLs, origins, hosts and ranges. */

import { BlockList, isIP } from "node:net";
import { hasCredentials } from "@inlet/protocol";
import { type Reading, SettingFault } from "./readings.ts";

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
      if (hasCredentials(given)) throw new SettingFault("must not contain a user name or a password", { isSecret: true });
      return given.replace(/\/+$/, "");
    },
  };
}

/** An HTTP URL to which paths are appended. */
export function baseUrl(): Reading<string> {
  return {
    placeholder: "url",
    parse(given) {
      const base = url().parse(given);
      if (/[?#]/.test(base)) throw new SettingFault('must not contain "?" or "#": paths are appended to it');
      return base;
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

/** A host to listen on. An IPv6 address may be in brackets, as in URLs. */
export function host(): Reading<string> {
  return {
    placeholder: "address",
    parse(given) {
      if (given === "") throw new SettingFault("must not be empty");
      const [, v6 = ""] = /^\[(.+)\]$/.exec(given) ?? [];
      return isIP(v6) === 6 ? v6 : given;
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
    isList: true,
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
    isList: true,
    parse(given) {
      const [, mode, list = ""] = /^(allow|deny):(.*)$/.exec(given.trim()) ?? [];
      const ranges = list.split(",").map((part) => part.trim());
      if (mode === undefined || !ranges.every(isRange))
        throw new SettingFault('must be "allow:" or "deny:" and a list of addresses and CIDR ranges, such as allow:10.0.0.0/8,fd00::/8');
      return { mode: mode as AddressList["mode"], ranges };
    },
  };
}

function isRange(range: string): boolean {
  const [address = "", prefix, ...rest] = range.split("/");
  const family = isIP(address);
  if (!family || rest.length > 0) return false;
  if (prefix === undefined) return true;
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 6 ? "ipv6" : "ipv4");
    return /^\d+$/.test(prefix);
  } catch {
    return false;
  }
}
