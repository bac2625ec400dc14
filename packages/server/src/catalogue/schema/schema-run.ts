/**
 * One check of a value. It first asks whether the value matches, building no fault. Only for a value that does not, a second
 * pass collects faults. That pass ends when it has as many as asked for, or when it has done twice the work of the first, or as much
 * as faults are worth.
 */

export interface SchemaFault {
  /** A JSON Pointer into `data`. */
  path: string;
  message: string;
}

/** The way to a value, from the value upwards; null: the root. Only turned into text for a fault. */
export interface Path {
  parent: Path | null;
  key: string | number;
}

/** The properties and items of one value that a schema has evaluated, for unevaluatedProperties and unevaluatedItems. */
export interface Evaluated {
  isAll: boolean;
  keys: Set<string | number>;
}

/** Whether a value matches. `evaluated` is null unless a keyword needs to know which parts were evaluated. */
export type Check = (value: unknown, path: Path | null, run: SchemaRun, evaluated: Evaluated | null) => boolean;

/** A compiled subschema. An object, because schemas may contain themselves: the check is set when all exist. */
export interface Linked {
  apply: Check;
}

/** Thrown to end the pass that collects faults. */
class Enough {}
/** Thrown if the schema applies to itself so often, on so deep a value, that the stack would not suffice. */
class TooDeep {}

const NESTED_MAX = 1_500;
const PATH_LENGTH_MAX = 1_000;
const COLLECT_WORK_MAX = 5_000_000;
/** Faults whose long paths are cut may look the same. To build one takes far longer than a unit of work. */
const REPEATED_MAX = 1_000;
/** The keys of an object with so many are slow to list. */
const MANY_KEYS = 64;

export class SchemaRun {
  /** Units of work done, as counted by schema-cost.ts. */
  work = 0;
  /** How many subschemas are being applied, one inside the other. */
  nested = 0;
  /** Null: faults are not collected. */
  #faults: SchemaFault[] | null = null;
  #faultsMax = 0;
  #repeated = 0;
  #workMax = Number.POSITIVE_INFINITY;
  /** For each array or object read so far, the number of its value, and one object for each number. */
  readonly #numberOf = new Map<object, number>();
  readonly #numbers = new Map<string, number>();
  readonly #firsts: object[] = [];
  /** Answers that several keywords may ask for, of objects with many keys and of arrays. */
  readonly #keys = new Map<object, readonly string[]>();
  readonly #unique = new Map<object, boolean>();

  get isCollecting(): boolean {
    return this.#faults !== null;
  }

  /** The faults of a value that does not match; at least one. */
  collect(faultsMax: number, apply: () => boolean): SchemaFault[] {
    const faults: SchemaFault[] = [];
    this.#faults = faults;
    this.#faultsMax = faultsMax;
    this.#workMax = this.work + Math.min(this.work * 2 + 1_000, COLLECT_WORK_MAX);
    try {
      apply();
    } catch (error) {
      if (!(error instanceof Enough)) throw error;
    }
    return faults.length > 0 ? faults : [{ path: "", message: "does not match the schema" }];
  }

  /** Applies a subschema whose faults are not those of the value. */
  quietly(schema: Linked, value: unknown, evaluated: Evaluated | null = null): boolean {
    const faults = this.#faults;
    this.#faults = null;
    // What is thrown ends the whole pass.
    const isValid = schema.apply(value, null, this, evaluated);
    this.#faults = faults;
    return isValid;
  }

  /** A subschema with so many keywords is applied. */
  enter(keywords: number): void {
    this.charge(1 + keywords);
    if (++this.nested > NESTED_MAX) throw new TooDeep();
  }

  leave(): void {
    this.nested--;
  }

  charge(work: number): void {
    this.work += work;
    if (this.work > this.#workMax) throw new Enough();
  }

  /** False, for the caller to return. */
  fault(path: Path | null, message: string): false {
    if (!this.#faults) return false;
    const fault = { path: textOf(path), message };
    if (!this.#faults.some((known) => known.path === fault.path && known.message === message)) this.#faults.push(fault);
    else this.#repeated++;
    if (this.#faults.length >= this.#faultsMax || this.#repeated > REPEATED_MAX) throw new Enough();
    return false;
  }

  keysOf(value: object): readonly string[] {
    const keys = (this.#keys.size > 0 && this.#keys.get(value)) || Object.keys(value);
    if (keys.length >= MANY_KEYS) this.#keys.set(value, keys);
    this.charge(keys.length);
    return keys;
  }

  hasUniqueItems(value: readonly unknown[]): boolean {
    this.charge(value.length);
    const isUnique = this.#unique.get(value) ?? new Set(value.map((item) => this.#identityOf(item))).size === value.length;
    this.#unique.set(value, isUnique);
    return isUnique;
  }

  /** Equal values have the same identity, whatever the order of their keys. Each array or object is read once in a check. */
  #identityOf(value: unknown): unknown {
    return typeof value === "object" && value !== null ? this.#firsts[this.#number(value)] : value;
  }

  #number(value: object): number {
    const known = this.#numberOf.get(value);
    if (known !== undefined) return known;
    const keys = Object.keys(value);
    this.charge(keys.length);
    const text = Array.isArray(value)
      ? `[${value.map((item) => this.#part(item)).join()}]`
      : `{${keys
          .sort()
          .map((key) => `${JSON.stringify(key)}:${this.#part((value as Record<string, unknown>)[key])}`)
          .join()}}`;
    const number = this.#numbers.get(text) ?? this.#firsts.push(value) - 1;
    this.#numbers.set(text, number);
    this.#numberOf.set(value, number);
    return number;
  }

  #part(value: unknown): string {
    return typeof value === "object" && value !== null ? `#${this.#number(value)}` : JSON.stringify(value);
  }
}

/** Whether the error means that a value is too deep for the schema. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof TooDeep;
}

export function below(path: Path | null, key: string | number, run: SchemaRun): Path | null {
  return run.isCollecting ? { parent: path, key } : null;
}

/** Long paths are cut: faults must not be larger than the event. */
function textOf(path: Path | null): string {
  const keys: (string | number)[] = [];
  for (let at = path; at; at = at.parent) keys.push(at.key);
  let text = "";
  for (let key = keys.pop(); key !== undefined && text.length < PATH_LENGTH_MAX; key = keys.pop())
    text += `/${String(key).slice(0, PATH_LENGTH_MAX).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return text.length > PATH_LENGTH_MAX ? `${text.slice(0, PATH_LENGTH_MAX)}…` : text;
}
