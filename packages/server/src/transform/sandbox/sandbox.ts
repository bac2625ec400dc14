/**
 * Runs transforms, each request in isolation.
 *
 * A version is evaluated once, and an image of the memory is kept. Before each run that image is restored, so a run finds exactly
 * what the version's top level left behind and nothing from any request. An instance that grew its memory, reached
 * a limit or trapped is discarded, and the image is restored into a new one.
 *
 * Everything user code can do ends in an outcome, with one exception: native work inside the engine that never reaches the interrupt
 * check. Its thread is then terminated from outside.
 */

import type { CheckOutcome, EntryName, SandboxLimits, TransformFault, TransformOutcome } from "../transform-outcome.ts";
import { callTransform, type TransformCall } from "./call-transform.ts";
import { Deadline } from "./deadline.ts";
import { memoryFault, timeoutFault } from "./describe-exception.ts";
import { type FoundTransform, findTransform } from "./find-transform.ts";
import { Guest, GuestMemoryFull, GuestTrap, READ_AS } from "./guest.ts";
import { GUEST_GLOBALS_SOURCE } from "./guest-globals.ts";
import { LogLines } from "./log-lines.ts";
import { MemoryImage } from "./memory-image.ts";
import { type Handle, WASM_PAGE_BYTES } from "./quickjs.ts";

/** The engine was linked with a stack of 1 MiB; half of it is reserved for frames that do not check. */
const STACK_BYTES_MAX = 524_288;

/** Space for the engine's own stack (1 MiB) and data, and for its allocator's overhead, in addition to what user code may allocate. */
export const MEMORY_OVERHEAD_BYTES = 8 * 1_048_576;

/**
 * Free memory in an image. A run that needs more grows memory, which costs a new instance, so a run with a payload of 10 KB has to fit.
 * A larger reserve would slow every run, since all of memory is cleared before it.
 */
const HEAP_RESERVE_BYTES = 524_288;

/** By how much the top level of a transform may grow memory. */
const TOP_LEVEL_BYTES_MAX = 2 * 1_048_576;

type Failed = { fault: TransformFault };

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
  /** Holds the lines of the current run. */
  logMemory: SharedArrayBuffer;
  module: WebAssembly.Module;
}

export class Sandbox {
  readonly #limits: SandboxLimits;
  readonly #module: WebAssembly.Module;
  readonly #deadline = new Deadline();
  readonly #logs: LogLines;
  /** The memory of an instance that is ready for a transform. */
  readonly #image: MemoryImage;
  readonly #bodyFileAt: number;
  readonly #stackTopAt: number;
  readonly #forgetSeed: Handle;
  /** In order of use: the first is dropped first. */
  readonly #versions = new Map<string, Version>();
  #guest: Guest | null = null;

  constructor({ limits, logMemory, module }: SandboxOptions) {
    if (limits.stackBytes > STACK_BYTES_MAX) throw new Error(`the sandbox's stack can have at most ${STACK_BYTES_MAX} bytes`);
    this.#limits = limits;
    this.#module = module;
    this.#logs = new LogLines(limits, logMemory);
    this.#deadline.start(Number.POSITIVE_INFINITY);
    const guest = this.#instantiate();
    guest.initialize(limits);
    this.#forgetSeed = addGlobals(guest);
    this.#bodyFileAt = guest.write("body").at;
    makeRoom(guest);
    this.#stackTopAt = guest.stackPointer;
    this.#image = new MemoryImage(guest.memory, this.#stackTopAt);
    this.#guest = guest;
  }

  /** CPU time of the last run. */
  get cpuMs(): number {
    return this.#deadline.cpuMs;
  }

  run(request: SandboxRun): TransformOutcome {
    this.#deadline.start(this.#limits.timeoutMs);
    const version = this.#load(request);
    this.#logs.take();
    const result = "fault" in version ? version : this.#call(version, request);
    const logs = this.#logs.take();
    const durationMs = Math.round(this.#deadline.wallMs * 1_000) / 1_000;
    if ("fault" in result) return { ok: false, ...result.fault, logs, durationMs };
    return { ok: true, eventJson: result.eventJson, logs, durationMs };
  }

  /** Does everything except calling the function. */
  check(source: string, entry: EntryName = "transform"): CheckOutcome {
    this.#deadline.start(this.#limits.timeoutMs);
    const result = this.#inside(this.#image, (guest) => this.#evaluate(guest, source, entry));
    this.#logs.take();
    return "fault" in result ? { ok: false, ...result.fault } : { ok: true };
  }

  /** The version's image, created now if it is not cached. Creating it counts against the time limit of the first run. */
  #load({ versionKey, source, entry = "transform" }: SandboxRun): Version | Failed {
    const known = this.#versions.get(versionKey);
    this.#versions.delete(versionKey);
    const version = known?.source === source ? known : this.#make(versionKey, source, entry);
    if (!("fault" in version)) this.#keep(version);
    return version;
  }

  #make(key: string, source: string, entry: EntryName): Version | Failed {
    return this.#inside(this.#image, (guest) => {
      const found = this.#evaluate(guest, source, entry);
      if ("fault" in found) return found;
      guest.call(this.#forgetSeed, []);
      // Describing the syntax error of a form that did not match has raised it.
      guest.setMemoryLimit(this.#limits.memoryBytes);
      if (guest.memoryBytes > this.#image.sizeBytes) makeRoom(guest);
      return { ...found, key, source, image: new MemoryImage(guest.memory, this.#stackTopAt) };
    });
  }

  #evaluate(guest: Guest, source: string, entry: EntryName): FoundTransform | Failed {
    const found = findTransform(guest, source, { entry, memoryBytes: this.#limits.memoryBytes });
    const hasRoom = guest.memoryBytes <= this.#image.sizeBytes + TOP_LEVEL_BYTES_MAX;
    return "fault" in found || hasRoom ? found : { fault: TOP_LEVEL_TOO_LARGE };
  }

  #call({ handle, linesBefore, image }: Version, request: TransformCall) {
    const { memoryBytes, resultBytesMax } = this.#limits;
    const options = { request, handle, linesBefore, memoryBytes, resultBytesMax, bodyFileAt: this.#bodyFileAt };
    return this.#inside(image, (guest) => callTransform(guest, options));
  }

  #keep(version: Version): void {
    this.#versions.set(version.key, version);
    const oldest = this.#versions.keys().next().value;
    if (this.#versions.size > this.#limits.versionsMax && oldest !== undefined) this.#versions.delete(oldest);
  }

  /** Runs work on an image, and decides whether the instance can be reused. */
  #inside<Result extends object>(image: MemoryImage, work: (guest: Guest) => Result | Failed): Result | Failed {
    const guest = this.#restore(image);
    try {
      const result = work(guest);
      const limitReached = "fault" in result && result.fault.code === "transform_memory";
      const hasGrown = guest.memoryBytes !== image.sizeBytes;
      if (limitReached || this.#deadline.passed || hasGrown) this.#guest = null;
      if (this.#deadline.passed) return { fault: timeoutFault(this.#limits.timeoutMs) };
      return guest.isTooLarge ? { fault: memoryFault(this.#limits.memoryBytes) } : result;
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

  /** An instance in the state of the image: the previous one, or a new one if that was discarded or has another size. */
  #restore(image: MemoryImage): Guest {
    if (this.#guest?.memoryBytes !== image.sizeBytes) this.#guest = null;
    const guest = this.#guest ?? this.#instantiate();
    guest.growMemory((image.sizeBytes - guest.memoryBytes) / WASM_PAGE_BYTES);
    image.restore(guest.memory);
    guest.stackPointer = this.#stackTopAt;
    this.#guest = guest;
    return guest;
  }

  #instantiate(): Guest {
    const memoryBytesMax = this.#limits.memoryBytes + MEMORY_OVERHEAD_BYTES;
    return new Guest(this.#module, { deadline: this.#deadline, logs: this.#logs, memoryBytesMax });
  }
}

const TOP_LEVEL_TOO_LARGE: TransformFault = {
  code: "transform_memory",
  message: `the top level of the transform needs more than ${TOP_LEVEL_BYTES_MAX} bytes; move the work into the function`,
};

/** The allocation is freed at once, but memory has grown to hold it. */
function makeRoom(guest: Guest): void {
  guest.free(guest.allocate(HEAP_RESERVE_BYTES));
}

function addGlobals(guest: Guest): Handle {
  const install = guest.evaluate(GUEST_GLOBALS_SOURCE, "inlet", READ_AS.script);
  const forgetSeed = guest.call(
    install,
    ["log", "seed", "hash"].map((name) => guest.hostFunction(name)),
  );
  if (!guest.isFunction(forgetSeed)) throw new Error("the sandbox's own globals could not be set up");
  return forgetSeed;
}
