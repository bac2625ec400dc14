/**
 * The interface to the engine: the functions of its WebAssembly module that we call, and the few that it may call.
 *
 * The list of imports is the whole surface between user code and the host. It consists of a clock, hashes, random bytes for the
 * seed, the interrupt check and a function that takes a log line. There are no files, sockets or host objects.
 *
 * quickjs-wasi is pinned to one exact version, because its raw exports are not part of its documented interface. We call them
 * directly, because only that allows restoring memory in place; its own `restore` creates a new instance every time.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The address of a value inside the engine's memory. */
export type Handle = number;

export interface QuickJsExports {
  memory: WebAssembly.Memory;
  /** The only state of the module that is not in its memory. */
  __stack_pointer: WebAssembly.Global<number>;
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_gc_threshold(bytes: number): void;
  qjs_set_interrupt_handler(enabled: number): void;
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

/** What the engine may request from the host while it runs. */
export interface QuickJsHost {
  /** Called every few thousand steps; true stops the run with an error that code cannot catch. */
  shouldStop(): boolean;
  /** A host function, identified by the first letter of its name, was called. Returns a value that the engine then owns. */
  call(letter: number, argumentCount: number, argumentsAt: number): Handle;
}

export const WASM_PAGE_BYTES = 65_536;

/** Compiled once; other threads receive the module. */
export function compileQuickJs(): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(fileURLToPath(import.meta.resolve("quickjs-wasi/quickjs.wasm"))));
}

const DONE = 0;
const BAD_DESCRIPTOR = 8;

export function instantiateQuickJs(module: WebAssembly.Module, host: QuickJsHost): QuickJsExports {
  const instance = new WebAssembly.Instance(module, {
    env: {
      host_interrupt: () => (host.shouldStop() ? 1 : 0),
      host_call: (nameAt = 0, _nameBytes, _self, count = 0, argumentsAt = 0) =>
        host.call(new Uint8Array(exports.memory.buffer)[nameAt] ?? 0, count, argumentsAt),
      // Local time is UTC: a transform must not depend on the location of the server.
      host_get_timezone_offset: () => 0,
      host_promise_rejection: () => undefined,
      host_module_normalize: () => 0,
      host_module_load: () => 0,
    },
    wasi_snapshot_preview1: {
      clock_time_get: (_clock, _precision, at = 0) => {
        new DataView(exports.memory.buffer).setBigUint64(at, BigInt(Date.now()) * 1_000_000n, true);
        return DONE;
      },
      random_get: (at = 0, bytes = 0) => {
        crypto.getRandomValues(new Uint8Array(exports.memory.buffer, at, bytes));
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
