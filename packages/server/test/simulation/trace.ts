/**
 * What every process asked of its store and logged, with the time of the question and of the response. A play in real time cannot be played
 * again: with this, a fault of it can be judged.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { now } from "./virtual-time.ts";

export interface TraceEntry {
  at: number;
  /** Absent: it has not ended, or takes no time. */
  endedAt?: number;
  process: number;
  what: string;
  asked?: unknown;
  answer?: unknown;
}

/** Longer texts say nothing more. */
const TEXT_MAX = 4_000;

export class Trace {
  readonly entries: TraceEntry[] = [];

  note(process: number, what: string, asked?: unknown): TraceEntry {
    const entry: TraceEntry = { at: now(), process, what, asked: readable(asked) };
    this.entries.push(entry);
    return entry;
  }

  end(entry: TraceEntry, answer: unknown): void {
    entry.endedAt = now();
    entry.answer = answer instanceof Error ? `${answer.name}: ${answer.message}` : readable(answer);
  }
}

/** One line for each entry, so that tools can search it. */
export function keepPlay(folder: string, name: string, parts: Readonly<Record<string, unknown>>): void {
  const at = join(folder, name);
  mkdirSync(at, { recursive: true });
  for (const [part, content] of Object.entries(parts)) {
    const lines = Array.isArray(content) ? content : [content];
    writeFileSync(join(at, `${part}.jsonl`), lines.map((line) => `${JSON.stringify(line, asPlain)}\n`).join(""));
  }
}

function readable(value: unknown): unknown {
  const text = JSON.stringify(value, asPlain);
  return text === undefined || text.length > TEXT_MAX ? text?.slice(0, TEXT_MAX) : JSON.parse(text);
}

function asPlain(_: string, value: unknown): unknown {
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value];
  return typeof value === "bigint" ? String(value) : value;
}
