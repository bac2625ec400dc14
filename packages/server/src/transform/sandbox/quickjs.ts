/**
 * The engine as we use it: which functions of its WebAssembly module we call, and the few it may call back.
 *
 * The list of imports is the whole surface between user code and the host. Behind it are a clock, random bytes for the
 * seed, one question ("may I go on?") and one function that takes a log line. There is no file, no socket, no object of the host.
 *
 * quickjs-wasi is pinned to one exact version, because its raw exports are not part of its documented interface. We call them
 * directly, because only that allows restoring memory in place; its own `restore` makes a new instance every time.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { markWritten } from "./mark-writes.ts";
import { prepareModule } from "./prepare-module.ts";

/** The address of a value inside the engine's memory. */
export type Handle = number;

export interface QuickJsExports {
  memory: WebAssembly.Memory;
  /** A byte for each 4 KiB of memory, set when something was written there: see mark-writes.ts. */
  marks: WebAssembly.Memory;
  /** The only state of the module that is not in its memory. */
  __stack_pointer: WebAssembly.Global<number>;
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_gc_threshold(bytes: number): void;
  qjs_set_interrupt_handler(enabled: number): void;
  qjs_get_runtime_ptr(): number;
  qjs_get_context_ptr(): number;
  qjs_get_undefined(): Handle;
  qjs_new_string(at: number, bytes: number): Handle;
  qjs_new_number(value: number): Handle;
  qjs_new_host_function(nameAt: number, nameBytes: number, argumentCount: number): Handle;
  qjs_eval(sourceAt: number, sourceBytes: number, fileAt: number, flags: number): Handle;
  qjs_call(callee: Handle, self: Handle, count: number, argumentsAt: number): Handle;
  qjs_get_prop_string(object: Handle, nameAt: number): Handle;
  qjs_get_string_len(value: Handle, lengthAt: number): number;
  qjs_get_exception(): Handle;
  qjs_is_exception(value: Handle): number;
  qjs_is_undefined(value: Handle): number;
  qjs_is_null(value: Handle): number;
  qjs_is_object(value: Handle): number;
  qjs_is_array(value: Handle): number;
  qjs_is_function(value: Handle): number;
  qjs_is_error(value: Handle): number;
  qjs_is_promise(value: Handle): number;
  qjs_promise_state(promise: Handle): number;
  qjs_promise_result(promise: Handle): Handle;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  wasm_malloc(bytes: number): number;
  wasm_free(at: number): void;
  /** These two have no wrapper that works on addresses: they take and return the 64 bits of the value itself. */
  JS_ParseJSON(context: number, at: number, bytes: number, fileAt: number): bigint;
  JS_JSONStringify(context: number, value: bigint, replacer: bigint, space: bigint): bigint;
}

const EXPORTS_USED: Record<Exclude<keyof QuickJsExports, "marks">, true> = {
  memory: true,
  __stack_pointer: true,
  _initialize: true,
  qjs_init2: true,
  qjs_set_memory_limit: true,
  qjs_set_max_stack_size: true,
  qjs_set_gc_threshold: true,
  qjs_set_interrupt_handler: true,
  qjs_get_runtime_ptr: true,
  qjs_get_context_ptr: true,
  qjs_get_undefined: true,
  qjs_new_string: true,
  qjs_new_number: true,
  qjs_new_host_function: true,
  qjs_eval: true,
  qjs_call: true,
  qjs_get_prop_string: true,
  qjs_get_string_len: true,
  qjs_get_exception: true,
  qjs_is_exception: true,
  qjs_is_undefined: true,
  qjs_is_null: true,
  qjs_is_object: true,
  qjs_is_array: true,
  qjs_is_function: true,
  qjs_is_error: true,
  qjs_is_promise: true,
  qjs_promise_state: true,
  qjs_promise_result: true,
  qjs_is_job_pending: true,
  qjs_execute_pending_job: true,
  wasm_malloc: true,
  wasm_free: true,
  JS_ParseJSON: true,
  JS_JSONStringify: true,
};

/** What the engine may ask of the host while it runs. */
export interface QuickJsHost {
  /** Asked every few thousand steps; true stops the run with an error that code cannot catch. */
  shouldStop(): boolean;
  /** A host function, known by the first letter of its name, was called from inside. Returns a value the engine then owns. */
  call(letter: number, argumentCount: number, argumentsAt: number): Handle;
}

export const WASM_PAGE_BYTES = 65_536;

/** Room for the engine's own stack (1 MiB) and data, and for what its allocator wastes, on top of what user code may allocate. */
const MEMORY_OVERHEAD_BYTES = 8 * 1_048_576;

/** Takes 50 ms the first time, most of it for marking; other threads are given the module. */
export function compileQuickJs(memoryBytes: number): WebAssembly.Module {
  const binary = readFileSync(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm")));
  const memoryPagesMax = Math.ceil((memoryBytes + MEMORY_OVERHEAD_BYTES) / WASM_PAGE_BYTES);
  return new WebAssembly.Module(prepareModule(binary, { exports: Object.keys(EXPORTS_USED), memoryPagesMax }));
}

const DONE = 0;
const BAD_DESCRIPTOR = 8;

export function instantiateQuickJs(module: WebAssembly.Module, host: QuickJsHost): QuickJsExports {
  const instance = new WebAssembly.Instance(module, {
    env: {
      host_interrupt: () => (host.shouldStop() ? 1 : 0),
      host_call: (nameAt = 0, _nameBytes, _self, count = 0, argumentsAt = 0) =>
        host.call(new Uint8Array(exports.memory.buffer)[nameAt] ?? 0, count, argumentsAt),
      // Local time is UTC: a transform must not depend on where the server stands.
      host_get_timezone_offset: () => 0,
      host_promise_rejection: () => undefined,
      host_module_normalize: () => 0,
      host_module_load: () => 0,
    },
    wasi_snapshot_preview1: {
      clock_time_get: (_clock, _precision, at = 0) => {
        new DataView(exports.memory.buffer).setBigUint64(at, BigInt(Date.now()) * 1_000_000n, true);
        markWritten(new Uint8Array(exports.marks.buffer), at, 8);
        return DONE;
      },
      random_get: (at = 0, bytes = 0) => {
        crypto.getRandomValues(new Uint8Array(exports.memory.buffer, at, bytes));
        markWritten(new Uint8Array(exports.marks.buffer), at, bytes);
        return DONE;
      },
      fd_write: () => BAD_DESCRIPTOR,
      fd_close: () => BAD_DESCRIPTOR,
      fd_seek: () => BAD_DESCRIPTOR,
      fd_fdstat_get: () => BAD_DESCRIPTOR,
    },
  });
  const exports = instance.exports as QuickJsExports;
  return exports;
}
