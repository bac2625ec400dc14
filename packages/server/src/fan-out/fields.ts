/**
 * Reads the fields of a registered object one by one, and reports each fault under the field's full path, such as
 * `throttle.period`. An absent or null field reads as null; an invalid one is reported and reads as null too, so that one pass
 * finds every fault.
 */

import { parseDuration } from "@inlet/protocol";
import { compileExpression, isFault } from "./expressions.ts";

type Report = (field: string, message: string) => void;

export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #report: Report;

  /** `path` is the prefix of the names of these fields: "" or "throttle.". */
  constructor(values: Readonly<Record<string, unknown>>, path: string, report: Report) {
    this.#values = values;
    this.#path = path;
    this.#report = report;
  }

  /** The message completes "throttle.period …". */
  fault(name: string, message: string): null {
    this.#report(this.#path + name, message);
    return null;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? null) : null;
  }

  text(name: string): string | null {
    const value = this.value(name);
    return value === null || typeof value === "string" ? value : this.fault(name, "must be a string");
  }

  /** An empty text if it is missing, which is reported. */
  requiredText(name: string, lengthMax = Number.POSITIVE_INFINITY): string {
    const text = this.text(name);
    if (text !== null && text.length > lengthMax) this.fault(name, `is longer than ${lengthMax} characters`);
    else if (text === "" || this.value(name) === null) this.fault(name, "is required");
    return text ?? "";
  }

  wholeNumber(name: string, min: number, max: number = Number.MAX_SAFE_INTEGER): number | null {
    const value = this.value(name);
    if (value === null) return null;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    return this.fault(
      name,
      max === Number.MAX_SAFE_INTEGER ? `must be a whole number from ${min}` : `must be a whole number from ${min} to ${max}`,
    );
  }

  duration(name: string, minMs: number, maxMs: number): number | null {
    const value = this.value(name);
    if (value === null || value === "") return null;
    const ms = typeof value === "string" ? parseDuration(value) : null;
    if (ms === null) return this.fault(name, 'must be a duration such as "30s", "5m" or "1h30m"');
    return ms >= minMs && ms <= maxMs ? ms : this.fault(name, `must be from ${written(minMs)} to ${written(maxMs)}`);
  }

  requiredDuration(name: string, minMs: number, maxMs: number): number {
    if (this.value(name) === null || this.value(name) === "") this.fault(name, "is required");
    return this.duration(name, minMs, maxMs) ?? 0;
  }

  expression(name: string, { mayUseAsync = false } = {}): string | null {
    const text = this.text(name);
    if (text === null || text === "") return null;
    const compiled = compileExpression(text);
    if (isFault(compiled)) return this.fault(name, `is not an expression: ${compiled.fault}`);
    return compiled.usesAsync && !mayUseAsync
      ? this.fault(name, "uses async, which exists only in waits and cancellations: use event")
      : text;
  }

  object(name: string): Fields | null {
    const value = this.value(name);
    if (value === null) return null;
    return isObject(value) ? new Fields(value, `${this.#path}${name}.`, this.#report) : this.fault(name, "must be an object");
  }

  list(name: string, lengthMax: number): Fields[] {
    const value = this.value(name);
    if (value === null) return [];
    if (!Array.isArray(value)) return this.fault(name, "must be a list") ?? [];
    if (value.length > lengthMax) return this.fault(name, `has ${value.length} entries, at most ${lengthMax} may be given`) ?? [];
    return value.flatMap((entry: unknown, i) => {
      if (isObject(entry)) return new Fields(entry, `${this.#path}${name}[${i}].`, this.#report);
      this.fault(`${name}[${i}]`, "must be an object");
      return [];
    });
  }

  /** Reports every field that is not one of these. Those of another kind of object may be there if they are null. */
  refuseOthers(known: readonly string[], ofOtherKinds: readonly string[]): void {
    const mayStay = (name: string) => known.includes(name) || (ofOtherKinds.includes(name) && this.value(name) === null);
    for (const name of Object.keys(this.#values))
      if (!mayStay(name)) this.fault(name, `is not a field here; known are ${known.join(" and ")}`);
  }

  /** Every field that is an object. */
  objects(): Record<string, Fields> {
    const names = Object.keys(this.#values).filter((name) => isObject(this.#values[name]));
    return Object.fromEntries(names.map((name) => [name, this.object(name) as Fields]));
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function written(ms: number): string {
  const units: [number, string][] = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "m"],
    [1_000, "s"],
  ];
  const [unitMs, unit] = units.find(([size]) => ms >= size && ms % size === 0) ?? [1, "ms"];
  return `${ms / unitMs}${unit}`;
}
