/**
 * One instance of the engine, with operations in our terms: evaluate, call, parse, read. Values are addresses in its memory.
 *
 * Nothing is freed individually: after each run the whole memory is restored. For the same reason, an address taken before an
 * image of the memory stays valid after restoring it, even in another instance.
 *
 * Any operation may throw a `RuntimeError` or `RangeError` of the host: the engine trapped, or the native stack overflowed.
 * The instance is then unusable. `GuestMemoryFull` means that an allocation for our own arguments failed.
 */

import { randomInt } from "node:crypto";
import type { TransformFault } from "../transform-outcome.ts";
import type { Deadline } from "./deadline.ts";
import { hashInHost } from "./hash-in-host.ts";
import type { LogLines } from "./log-lines.ts";
import { type Handle, instantiateQuickJs, type QuickJsExports } from "./quickjs.ts";

/** How source text is evaluated. The numbers are the engine's. */
export const READ_AS = { script: 0, module: 1, scriptWithoutRunning: 1 << 5 } as const;

export type PromiseState = "pending" | "fulfilled" | "rejected";

const PROMISE_STATES: readonly PromiseState[] = ["pending", "fulfilled", "rejected"];
/** All of JavaScript except `performance`, whose clock would restart with each request. */
const INTRINSICS = 0xffff_ffff & ~(1 << 10);
/** Seeds are 32-bit numbers. */
const SEED_END = 2 ** 32;
const LETTER_LOG = "l".charCodeAt(0);
const LETTER_HASH = "h".charCodeAt(0);

const decoder = new TextDecoder();

export class GuestMemoryFull extends Error {}

/** The instance is unusable, for a known reason. */
export class GuestTrap extends Error {
  readonly fault: TransformFault;

  constructor(fault: TransformFault) {
    super(fault.message);
    this.fault = fault;
  }
}

export interface GuestContext {
  deadline: Deadline;
  logs: LogLines;
  /** A run that grows memory beyond this is stopped. */
  memoryBytesMax: number;
}

export class Guest {
  readonly #engine: QuickJsExports;
  readonly #context: GuestContext;
  #views: Views;

  constructor(module: WebAssembly.Module, context: GuestContext) {
    this.#context = context;
    this.#engine = instantiateQuickJs(module, {
      shouldStop: () => context.deadline.passed || this.isTooLarge,
      call: (letter, count, argumentsAt) => this.#hostCall(letter, count, argumentsAt),
    });
    this.#views = viewsOf(this.#engine.memory.buffer);
  }

  /** Creates the JavaScript runtime. Not called if the instance's memory will be restored from an image. */
  initialize(limits: { memoryBytes: number; stackBytes: number }): void {
    this.#engine._initialize();
    if (this.#engine.qjs_init2(INTRINSICS) !== 0) throw new Error("the sandbox engine did not start");
    this.#engine.qjs_set_max_stack_size(limits.stackBytes);
    this.#engine.qjs_set_memory_limit(limits.memoryBytes);
    // A run ends before cyclic garbage matters; collecting it pays off only when memory becomes scarce.
    this.#engine.qjs_set_gc_threshold(limits.memoryBytes / 2);
    this.#engine.qjs_set_interrupt_handler(1);
  }

  /** The whole memory, as a view that is detached when memory grows. */
  get memory(): Uint8Array {
    return this.#memory.bytes;
  }

  get memoryBytes(): number {
    return this.#engine.memory.buffer.byteLength;
  }

  /** The engine counts its allocations, but not the loss from fragmentation. */
  get isTooLarge(): boolean {
    return this.memoryBytes > this.#context.memoryBytesMax;
  }

  growMemory(pages: number): void {
    this.#engine.memory.grow(pages);
  }

  get stackPointer(): number {
    return this.#engine.__stack_pointer.value;
  }

  set stackPointer(value: number) {
    this.#engine.__stack_pointer.value = value;
  }

  setMemoryLimit(bytes: number): void {
    this.#engine.qjs_set_memory_limit(bytes);
  }

  allocate(bytes: number): number {
    const at = this.#engine.wasm_malloc(bytes);
    if (at === 0) throw new GuestMemoryFull();
    return at;
  }

  free(at: number): void {
    this.#engine.wasm_free(at);
  }

  /** Writes text as zero-terminated UTF-8. */
  write(text: string): { at: number; bytes: number } {
    // Three bytes for each UTF-16 unit are always enough; long text is measured first instead.
    const room = text.length < 1_024 ? text.length * 3 : Buffer.byteLength(text);
    const at = this.allocate(room + 1);
    const { bytes } = this.#memory;
    const written = bytes.write(text, at, room, "utf8");
    bytes[at + written] = 0;
    return { at, bytes: written };
  }

  evaluate(source: string, file: string, readAs: number): Handle {
    const { at, bytes } = this.write(source);
    return this.#engine.qjs_eval(at, bytes, this.write(file).at, readAs);
  }

  call(callee: Handle, values: readonly Handle[]): Handle {
    const at = this.allocate(values.length * 4 + 4);
    const { view } = this.#memory;
    for (let n = 0; n < values.length; n++) view.setUint32(at + n * 4, values[n] as number, true);
    return this.#engine.qjs_call(callee, this.#engine.qjs_get_undefined(), values.length, at);
  }

  string({ at, bytes }: { at: number; bytes: number }): Handle {
    return this.#engine.qjs_new_string(at, bytes);
  }

  hostFunction(name: string): Handle {
    const { at, bytes } = this.write(name);
    return this.#engine.qjs_new_host_function(at, bytes, 0);
  }

  /** The result of `JSON.parse`, without creating a string, and unaffected by user code that replaced it. */
  parseJson({ at, bytes }: { at: number; bytes: number }, fileAt: number): Handle {
    return this.#box(this.#engine.JS_ParseJSON(this.#engine.qjs_get_context_ptr(), at, bytes, fileAt));
  }

  stringifyJson(value: Handle): Handle {
    const nothing = this.#unbox(this.#engine.qjs_get_undefined());
    return this.#box(this.#engine.JS_JSONStringify(this.#engine.qjs_get_context_ptr(), this.#unbox(value), nothing, nothing));
  }

  property(object: Handle, name: string): Handle {
    return this.#engine.qjs_get_prop_string(object, this.write(name).at);
  }

  /** The UTF-8 bytes of `String(value)`: a view of memory. Null if that failed, with a pending exception. */
  textBytes(value: Handle): Uint8Array | null {
    const lengthAt = this.allocate(4);
    const at = this.#engine.qjs_get_string_len(value, lengthAt);
    if (at === 0) return null;
    const { bytes, view } = this.#memory;
    return bytes.subarray(at, at + view.getUint32(lengthAt, true));
  }

  text(value: Handle, bytesMax: number): string | null {
    const bytes = this.textBytes(value);
    return bytes && decoder.decode(bytes.subarray(0, bytesMax));
  }

  takeException(): Handle {
    return this.#engine.qjs_get_exception();
  }

  isException(value: Handle): boolean {
    return this.#engine.qjs_is_exception(value) !== 0;
  }

  isFunction(value: Handle): boolean {
    return this.#engine.qjs_is_function(value) !== 0;
  }

  isError(value: Handle): boolean {
    return this.#engine.qjs_is_error(value) !== 0;
  }

  isPromise(value: Handle): boolean {
    return this.#engine.qjs_is_promise(value) !== 0;
  }

  /** The type of a value, for a message. */
  kind(value: Handle): "undefined" | "null" | "array" | "function" | "object" | "primitive" {
    if (this.#engine.qjs_is_undefined(value)) return "undefined";
    if (this.#engine.qjs_is_null(value)) return "null";
    if (this.#engine.qjs_is_function(value)) return "function";
    if (this.#engine.qjs_is_array(value)) return "array";
    return this.#engine.qjs_is_object(value) ? "object" : "primitive";
  }

  promiseState(promise: Handle): PromiseState {
    return PROMISE_STATES[this.#engine.qjs_promise_state(promise)] ?? "pending";
  }

  promiseResult(promise: Handle): Handle {
    return this.#engine.qjs_promise_result(promise);
  }

  /** Runs promise jobs until none is left or the run has to stop. */
  runJobs(): void {
    while (this.#engine.qjs_is_job_pending() !== 0 && !this.#context.deadline.passed && !this.isTooLarge) {
      // An error thrown by a job is ignored; what matters is how the returned promise settles.
      if (this.#engine.qjs_execute_pending_job() < 0) this.#engine.qjs_get_exception();
    }
  }

  #hostCall(letter: number, count: number, argumentsAt: number): Handle {
    if (letter === LETTER_HASH) return this.#hash(argumentsAt);
    if (letter !== LETTER_LOG) return this.#engine.qjs_new_number(randomInt(SEED_END));
    if (this.#context.logs.full) return this.#engine.qjs_get_undefined();
    const line = count > 0 ? this.#memory.view.getUint32(argumentsAt, true) : 0;
    const text = line && this.textBytes(line);
    if (text) this.#context.logs.add(text);
    return this.#engine.qjs_get_undefined();
  }

  /** Four texts: the algorithm, the secret (empty: no HMAC), the input, the output encoding. Checked inside the sandbox. */
  #hash(argumentsAt: number): Handle {
    const texts = [0, 1, 2, 3].map((n) => {
      const bytes = this.textBytes(this.#memory.view.getUint32(argumentsAt + n * 4, true));
      if (!bytes) throw new GuestMemoryFull();
      // A copy: reading the next one may grow memory, which detaches views of it.
      return Buffer.from(bytes);
    });
    return this.string(this.write(hashInHost(texts as [Buffer, Buffer, Buffer, Buffer])));
  }

  #box(value: bigint): Handle {
    const at = this.allocate(8);
    this.#memory.view.setBigInt64(at, value, true);
    return at;
  }

  #unbox(value: Handle): bigint {
    return this.#memory.view.getBigInt64(value, true);
  }

  /** When memory grows, existing views of it are detached. */
  get #memory(): Views {
    if (this.#views.bytes.length === 0) this.#views = viewsOf(this.#engine.memory.buffer);
    return this.#views;
  }
}

interface Views {
  bytes: Buffer;
  view: DataView;
}

function viewsOf(memory: ArrayBuffer): Views {
  return { bytes: Buffer.from(memory), view: new DataView(memory) };
}
