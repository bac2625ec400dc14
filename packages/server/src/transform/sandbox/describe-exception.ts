/**
 * Turns an exception of the user's code into a message with its position in the user's source.
 *
 * Anything can be thrown, including objects with hostile getters. Reading it runs user code, still inside the sandbox and its
 * time limit; if that fails too, a generic message is used.
 */

import type { TransformFault } from "../transform-outcome.ts";
import type { Guest } from "./guest.ts";
import type { Handle } from "./quickjs.ts";

/** The file name of the user's source in stack traces. */
export const SOURCE_FILE = "transform.js";

const MESSAGE_BYTES_MAX = 2_048;
const STACK_BYTES_MAX = 16_384;
const POSITION = /\btransform\.js:(\d+):(\d+)/;
const ENGINE_OUT_OF_MEMORY = "InternalError: out of memory";

/** Memory reserved for describing an error after memory ran out. */
const SPARE_MEMORY_BYTES = 1_048_576;

export interface DescribeOptions {
  memoryBytes: number;
  /** Number of lines inserted before the user's source. */
  linesBefore: number;
}

/** Takes the pending exception and describes it. */
export function describeException(guest: Guest, options: DescribeOptions): TransformFault {
  guest.setMemoryLimit(options.memoryBytes + SPARE_MEMORY_BYTES);
  return describeThrown(guest, guest.takeException(), options);
}

/** Describes a value that was thrown, or that a promise was rejected with. */
export function describeThrown(guest: Guest, thrown: Handle, { memoryBytes, linesBefore }: DescribeOptions): TransformFault {
  guest.setMemoryLimit(memoryBytes + SPARE_MEMORY_BYTES);
  const message = messageOf(guest, thrown);
  if (message === ENGINE_OUT_OF_MEMORY) return memoryFault(memoryBytes);
  const fault: TransformFault = { code: "transform_failed", message };
  const position = POSITION.exec(stackOf(guest, thrown));
  // Only our own code precedes the first line.
  const line = Number(position?.[1]) - linesBefore;
  return position && line >= 1 ? { ...fault, line, column: Number(position[2]) } : fault;
}

export function memoryFault(memoryBytes: number): TransformFault {
  return { code: "transform_memory", message: `the code used more than the ${memoryBytes} bytes of memory allowed (--transform-memory)` };
}

export function timeoutFault(timeoutMs: number): TransformFault {
  return { code: "transform_timeout", message: `the code used more than the ${timeoutMs} ms of CPU time allowed (--transform-timeout)` };
}

function messageOf(guest: Guest, thrown: Handle): string {
  const plainObject = guest.kind(thrown) === "object" && !guest.isError(thrown);
  const text = plainObject ? jsonText(guest, thrown) : guest.text(thrown, MESSAGE_BYTES_MAX);
  if (text === null) guest.takeException();
  return text ?? "the code threw a value that cannot be shown";
}

function jsonText(guest: Guest, value: Handle): string | null {
  const json = guest.stringifyJson(value);
  return guest.isException(json) ? null : guest.text(json, MESSAGE_BYTES_MAX);
}

function stackOf(guest: Guest, thrown: Handle): string {
  if (!guest.isError(thrown)) return "";
  const stack = guest.property(thrown, "stack");
  const text = guest.isException(stack) ? null : guest.text(stack, STACK_BYTES_MAX);
  if (text === null) guest.takeException();
  return text ?? "";
}
