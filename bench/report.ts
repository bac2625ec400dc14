/** Prints a benchmark's rows as a table and keeps them as JSON. */

import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

export interface Row {
  what: string;
  value: number;
  unit: string;
  goal?: string;
  met?: boolean;
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function report(name: string, rows: Row[]): void {
  const width = Math.max(...rows.map(({ what }) => what.length)) + 2;
  for (const { what, value, unit, goal, met } of rows) {
    const outcome = goal ? `  ${goal}  ${met ? "reached" : "MISSED"}` : "";
    console.log(`${what.padEnd(width)}${written(value).padStart(10)} ${unit.padEnd(9)}${outcome}`);
  }
  keep(name, rows);
}

/** As JSON, with the machine. */
export function keep(name: string, rows: readonly object[]): void {
  const folder = fileURLToPath(new URL("results/", import.meta.url));
  mkdirSync(folder, { recursive: true });
  const file = `${folder}${name}.json`;
  const machine = { node: process.version, cpus: cpus().length, model: cpus()[0]?.model };
  writeFileSync(file, `${JSON.stringify({ name, at: new Date().toISOString(), machine, rows }, null, 2)}\n`);
  console.log(`\nwritten to ${file}`);
}

export function written(value: number): string {
  if (Number.isNaN(value)) return "unknown";
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2);
}
