/** Reads the events to send from flags, files or standard input, and validates each. */

import { createReadStream, statSync } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { TextDecoder } from "node:util";
import { readEvent, scanJson } from "@inlet/protocol";
import { CommandFault } from "../command-line/command-fault.ts";
import { EXIT } from "../command-line/command-result.ts";
import type { Io } from "../command-line/command-row.ts";
import { JsonSplitter, type SplitValue } from "./split-json.ts";

export interface EventText {
  text: string;
  /** `events.json:3`, for messages. */
  origin: string;
}

export interface Input {
  events: AsyncIterable<EventText>;
  /** Total bytes; null if unknown, as for standard input. */
  bytesTotal: number | null;
  /** Bytes read so far. */
  bytesRead(): number;
}

export interface EventFlags {
  name: string | null;
  data: string | null;
  id: string | null;
  ts: string | null;
}

const STDIN = "-";

export function readInput(flags: EventFlags, files: readonly string[], io: Pick<Io, "stdin" | "interrupted">): Input {
  const { name, data, id, ts } = flags;
  if (name !== null && files.length > 0) throw mistake("Use either --name or files, not both.");
  if (name === null && (data ?? id ?? ts) !== null) throw mistake("--data, --id and --ts require --name.");
  if (name !== null) return single(eventFromFlags({ ...flags, name }));
  if (files.length === 0 && io.stdin.isTTY) throw mistake('Say what to send: --name, a file, or "-" for standard input.');
  return fromFiles(files.length > 0 ? files : [STDIN], io);
}

function eventFromFlags({ name, data, id, ts }: EventFlags & { name: string }): EventText {
  const fields = [
    `"name":${JSON.stringify(name)}`,
    // The original text, so that numbers stay exact.
    `"data":${data ?? "{}"}`,
    ...(id === null ? [] : [`"id":${JSON.stringify(id)}`]),
    ...(ts === null ? [] : [`"ts":${milliseconds(ts)}`]),
  ];
  if (data !== null && !scanJson(data)) throw mistake(`--data is not a JSON object: ${reason(data)}`);
  return checked({ text: `{${fields.join(",")}}`, origin: "the event" });
}

function milliseconds(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  if (Number.isNaN(value)) throw mistake(`--ts must be milliseconds or ISO 8601, not "${text}"`);
  return value;
}

function single(event: EventText): Input {
  const bytes = Buffer.byteLength(event.text);
  return {
    events: (async function* () {
      yield event;
    })(),
    bytesTotal: bytes,
    bytesRead: () => bytes,
  };
}

function fromFiles(files: readonly string[], { stdin, interrupted }: Pick<Io, "stdin" | "interrupted">): Input {
  const signal = interrupted();
  let bytesRead = 0;
  const isKnown = files.every((file) => file !== STDIN);
  const bytesTotal = isKnown ? files.reduce((sum, file) => sum + sizeOf(file), 0) : null;
  async function* events(): AsyncGenerator<EventText> {
    for (const file of files) {
      const source = file === STDIN ? "standard input" : file;
      const splitter = new JsonSplitter(source);
      const decoder = new TextDecoder("utf-8", { fatal: true });
      const toEvent = ({ text, line }: SplitValue) => checked({ text, origin: `${source}:${line}` });
      for await (const chunk of readable(source, file === STDIN ? stdin : createReadStream(file), signal)) {
        bytesRead += (chunk as Buffer).length;
        for (const value of splitter.push(decoded(decoder, chunk as Buffer, source))) yield toEvent(value);
      }
      for (const value of splitter.end()) yield toEvent(value);
    }
  }
  return { events: events(), bytesTotal, bytesRead: () => bytesRead };
}

/** Before anything is sent: a file that is not there is usually a misspelled name. */
function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Events of files before it may have been accepted by now: like a bad event, it ends the report and does not replace it. */
async function* readable(source: string, stream: Readable, signal: AbortSignal): AsyncGenerator<unknown> {
  try {
    yield* addAbortSignal(signal, stream);
  } catch (error) {
    if (signal.aborted) throw interruption();
    throw unreadable(source, error);
  }
}

function unreadable(source: string, error: unknown): CommandFault {
  return new CommandFault(`${source} cannot be read: ${(error as Error).message}.`, "input_invalid");
}

export function interruption(): CommandFault {
  return new CommandFault("Interrupted.", "interrupted");
}

function decoded(decoder: TextDecoder, chunk: Buffer, source: string): string {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    throw new CommandFault(`${source} is not UTF-8.`, "input_invalid");
  }
}

/** Applies the service's rules, so that an invalid event does not fail a whole request. */
function checked({ text, origin }: EventText): EventText {
  const scanned = scanJson(text);
  if (!scanned && !/^[\s]*[[{]/.test(text)) throw invalid(origin, "event must be an object");
  if (!scanned) throw invalid(origin, reason(text));
  const faults: string[] = [];
  readEvent(text, "object" in scanned ? scanned.object : null, (field, message) => faults.push(`${field} ${message}`));
  if (faults.length > 0) throw invalid(origin, faults.join(", "));
  return { text, origin };
}

function invalid(origin: string, message: string): CommandFault {
  return new CommandFault(`${origin}: ${message}.`, "event_invalid");
}

function mistake(sentence: string): CommandFault {
  return new CommandFault(sentence, "usage", EXIT.usage);
}

function reason(text: string): string {
  try {
    JSON.parse(text);
    return "it is neither an object nor an array";
  } catch (error) {
    return (error as Error).message;
  }
}
