/**
 * Runs transforms, each request in a world of its own.
 *
 * A version is evaluated once; what memory looks like then is kept. Before each run that image is put back, so a run finds exactly
 * what the version's top level left behind and nothing that any request did. An instance whose memory grew, that reached
 * a limit or trapped is thrown away, and the image is put into a new one (0.2 ms).
 *
 * Everything user code can do ends in an outcome, with one exception: native work inside the engine that never asks whether to
 * go on. The thread it runs in is then ended from outside.
 */

import type { CheckOutcome, SandboxLimits, TransformFault, TransformOutcome } from "../transform-outcome.ts";
import { callTransform, type TransformCall } from "./call-transform.ts";
import { Deadline } from "./deadline.ts";
import { memoryFault, timeoutFault } from "./describe-exception.ts";
import { findPlainData } from "./find-plain-data.ts";
import { type FoundTransform, findTransform } from "./find-transform.ts";
import { Guest, GuestMemoryFull, GuestTrap, READ_AS } from "./guest.ts";
import { GUEST_GLOBALS_SOURCE } from "./guest-globals.ts";
import { LogLines } from "./log-lines.ts";
import { MemoryImage } from "./memory-image.ts";
import type { PlainJson } from "./plain-json.ts";
import { type Handle, WASM_PAGE_BYTES } from "./quickjs.ts";

/** The engine was linked with a stack of 1 MiB; half of it is left for frames that do not check. */
const STACK_BYTES_MAX = 524_288;

/** Free memory in the image. A run that needs more makes memory grow, which costs a new instance; a run at 96 KB fits in. */
const HEAP_RESERVE_BYTES = 2 * 1_048_576;

type NotLoaded = { fault: TransformFault };

interface Version {
  key: string;
  source: string;
  handle: Handle;
  linesBefore: number;
  image: MemoryImage;
}

export interface SandboxRun extends TransformCall {
  versionKey: string;
  source: string;
}

export interface SandboxOptions {
  limits: SandboxLimits;
  /** Where the lines of the run under way are kept. */
  logMemory: SharedArrayBuffer;
  module: WebAssembly.Module;
}

export class Sandbox {
  readonly #limits: SandboxLimits;
  readonly #module: WebAssembly.Module;
  readonly #deadline = new Deadline();
  readonly #logs: LogLines;
  /** The memory of an instance that has done nothing yet, and of one that can take a transform. */
  readonly #fresh: MemoryImage;
  readonly #image: MemoryImage;
  readonly #plainJson: PlainJson | null;
  readonly #bodyFileAt: number;
  readonly #stackTopAt: number;
  readonly #forgetSeed: Handle;
  /** In the order of use: the first is the one to drop. */
  readonly #versions = new Map<string, Version>();
  /** The last of them: most requests are for the one before them again. */
  #newest: Version | null = null;
  #guest: Guest | null = null;
  /** What its memory was made to look like last. */
  #restored: MemoryImage | null = null;

  constructor({ limits, logMemory, module }: SandboxOptions) {
    if (limits.stackBytes > STACK_BYTES_MAX) throw new Error(`the sandbox's stack can have at most ${STACK_BYTES_MAX} bytes`);
    this.#limits = limits;
    this.#module = module;
    this.#logs = new LogLines(limits, logMemory);
    this.#deadline.start(Number.POSITIVE_INFINITY);
    const guest = this.#instantiate();
    this.#fresh = MemoryImage.of(guest.words, 0);
    guest.initialize(limits);
    this.#forgetSeed = addGlobals(guest);
    this.#plainJson = findPlainData(guest, limits.resultBytesMax);
    this.#bodyFileAt = guest.write("body").at;
    // What is allocated here is free again in the image, but memory has grown to hold it.
    guest.free(guest.allocate(HEAP_RESERVE_BYTES));
    this.#stackTopAt = guest.stackPointer;
    this.#image = MemoryImage.of(guest.words, this.#stackTopAt);
    this.#guest = guest;
  }

  /** CPU time of the last run. */
  get cpuMs(): number {
    return this.#deadline.cpuMs;
  }

  run(request: SandboxRun): TransformOutcome {
    this.#deadline.start(this.#limits.timeoutMs);
    const result = this.#guarded((guest) => {
      const version = this.#load(guest, request);
      if ("fault" in version) return version;
      this.#restore(guest, version.image);
      this.#logs.take();
      const { memoryBytes, resultBytesMax } = this.#limits;
      const { handle, linesBefore } = version;
      const plainJson = this.#plainJson;
      const bodyFileAt = this.#bodyFileAt;
      return callTransform(guest, { request, handle, linesBefore, memoryBytes, resultBytesMax, plainJson, bodyFileAt });
    });
    const logs = this.#logs.take();
    const durationMs = Math.round(this.#deadline.wallMs * 1_000) / 1_000;
    if ("fault" in result) return { ok: false, ...result.fault, logs, durationMs };
    return { ok: true, eventJson: result.eventJson, places: result.places, logs, durationMs };
  }

  /** Does everything but calling the function. */
  check(source: string): CheckOutcome {
    this.#deadline.start(this.#limits.timeoutMs);
    const result = this.#guarded((guest) => this.#evaluate(guest, source));
    this.#logs.take();
    return "fault" in result ? { ok: false, ...result.fault } : { ok: true };
  }

  /** The version's image, made now if it is not known. Its time counts against the first run. */
  #load(guest: Guest, { versionKey, source }: SandboxRun): Version | NotLoaded {
    if (this.#newest?.key === versionKey && this.#newest.source === source) return this.#newest;
    const known = this.#versions.get(versionKey);
    this.#versions.delete(versionKey);
    if (known?.source === source) {
      this.#keep(known);
      return known;
    }
    const found = this.#evaluate(guest, source);
    if (!("handle" in found)) return found;
    guest.call(this.#forgetSeed, []);
    // Describing a syntax error of a form that was tried and did not fit has raised it.
    guest.setMemoryLimit(this.#limits.memoryBytes);
    const version = { ...found, key: versionKey, source, image: this.#image.with(guest.words, this.#stackTopAt) };
    this.#keep(version);
    return version;
  }

  #evaluate(guest: Guest, source: string): FoundTransform | NotLoaded {
    this.#restore(guest, this.#image);
    const found = findTransform(guest, source, this.#limits.memoryBytes);
    return "handle" in found && guest.memoryBytes > this.#image.sizeBytes ? { fault: TOP_LEVEL_TOO_LARGE } : found;
  }

  #keep(version: Version): void {
    this.#newest = version;
    this.#versions.set(version.key, version);
    const oldest = this.#versions.keys().next().value;
    if (this.#versions.size > this.#limits.versionsMax && oldest !== undefined) this.#versions.delete(oldest);
  }

  /** Runs work in an instance that is whole, and decides whether it can be used again. */
  #guarded<Result extends object>(work: (guest: Guest) => Result | { fault: TransformFault }): Result | { fault: TransformFault } {
    const guest = this.#guest ?? this.#newGuest();
    this.#guest = guest;
    try {
      const result = work(guest);
      const limitReached = "fault" in result && result.fault.code === "transform_memory";
      const hasGrown = guest.memoryBytes !== this.#image.sizeBytes;
      if (limitReached || this.#deadline.passed || hasGrown) this.#guest = null;
      return this.#deadline.passed ? { fault: timeoutFault(this.#limits.timeoutMs) } : result;
    } catch (error) {
      this.#guest = null;
      return { fault: this.#trapFault(error) };
    }
  }

  #trapFault(error: unknown): TransformFault {
    if (this.#deadline.passed) return timeoutFault(this.#limits.timeoutMs);
    if (error instanceof GuestTrap) return error.fault;
    if (error instanceof GuestMemoryFull) return memoryFault(this.#limits.memoryBytes);
    if (error instanceof RangeError) return { code: "transform_failed", message: "RangeError: Maximum call stack size exceeded" };
    return { code: "transform_failed", message: `the sandbox gave up: ${error instanceof Error ? error.message : String(error)}` };
  }

  #restore(guest: Guest, image: MemoryImage): void {
    image.restore(guest.words, guest.marks, this.#restored);
    this.#restored = image;
    guest.stackPointer = this.#stackTopAt;
  }

  #newGuest(): Guest {
    const guest = this.#instantiate();
    guest.growMemory((this.#image.sizeBytes - guest.memoryBytes) / WASM_PAGE_BYTES);
    this.#image.restore(guest.words, guest.marks, this.#fresh);
    this.#restored = this.#image;
    return guest;
  }

  #instantiate(): Guest {
    return new Guest(this.#module, { deadline: this.#deadline, logs: this.#logs });
  }
}

const TOP_LEVEL_TOO_LARGE: TransformFault = {
  code: "transform_memory",
  message: `the top level of the transform needs more than ${HEAP_RESERVE_BYTES} bytes; move the work into the function`,
};

function addGlobals(guest: Guest): Handle {
  const install = guest.evaluate(GUEST_GLOBALS_SOURCE, "inlet", READ_AS.script);
  const forgetSeed = guest.call(install, [guest.hostFunction("log"), guest.hostFunction("seed")]);
  if (!guest.isFunction(forgetSeed)) throw new Error("the sandbox's own globals could not be set up");
  return forgetSeed;
}
