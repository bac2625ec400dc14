/** Parsers of setting values; those of addresses are in address-readings.ts. A reading throws a SettingFault whose message completes "--flag …". */

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
  /** Several values separated by commas, also by repeating the flag. */
  isList?: true;
  /** Without the spaces and line breaks around it. */
  parse(text: string): Value;
}

export class SettingFault extends Error {
  /** The value is not repeated in the message. */
  readonly isSecret: boolean;

  constructor(message: string, { isSecret = false } = {}) {
    super(message);
    this.isSecret = isSecret;
  }
}

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
    isList: true,
    parse: (given) => given.split(",").map((part) => item.parse(part.trim())),
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
  const [, number = "", name = ""] = match ?? [];
  return Object.hasOwn(SIZE_UNITS_BYTES, name) ? Math.round(Number(number) * (SIZE_UNITS_BYTES[name] as number)) : null;
}

/** In the largest unit that gives a whole number. */
function formatBytes(bytes: number): string {
  const [name, factor] = Object.entries(SIZE_UNITS_BYTES).findLast(([, unit]) => bytes >= unit && bytes % unit === 0) ?? ["", 1];
  return `${bytes / factor}${name}`;
}
