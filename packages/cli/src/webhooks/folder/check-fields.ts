/** Checks of values read from JSON. Each fault names the file and the field. Unknown fields are faults, to catch typing errors. */

import type { AcceptList } from "@inlet/protocol";

export type Fields = Readonly<Record<string, unknown>>;

export class FieldChecks {
  readonly #file: string;
  readonly #faults: string[];

  constructor(file: string, faults: string[]) {
    this.#file = file;
    this.#faults = faults;
  }

  fault(sentence: string): void {
    this.#faults.push(`${this.#file}: ${sentence}`);
  }

  /** The object if it has no unknown fields, otherwise null. */
  object(value: unknown, name: string, known: readonly string[]): Fields | null {
    if (!isObject(value)) {
      this.fault(`${name} must be an object`);
      return null;
    }
    for (const field of Object.keys(value)) {
      if (!known.includes(field)) this.fault(`${name} has a field "${field}", which is unknown; known fields: ${known.join(", ")}`);
    }
    return value;
  }

  text(value: unknown, name: string): string {
    if (typeof value === "string" && value !== "") return value;
    this.fault(value === undefined ? `${name} is missing` : `${name} must be a non-empty string`);
    return "";
  }

  optionalText(value: unknown, name: string): string | null {
    return value === undefined ? null : this.text(value, name);
  }

  yesOrNo(value: unknown, name: string, otherwise: boolean): boolean {
    if (value === undefined || typeof value === "boolean") return value ?? otherwise;
    this.fault(`${name} must be true or false`);
    return otherwise;
  }

  acceptList(value: unknown, name: string): AcceptList | null {
    if (value === undefined || value === null) return null;
    const fields = this.object(value, name, ["mode", "list"]);
    if (!fields) return null;
    const { mode, list } = fields;
    if (mode !== "allow" && mode !== "deny") this.fault(`${name}.mode must be "allow" or "deny"`);
    const isList = Array.isArray(list) && list.every((item) => typeof item === "string" && item !== "");
    if (!isList) this.fault(`${name}.list must be a list of strings`);
    return { mode: mode as AcceptList["mode"], list: list as string[] };
  }
}

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
