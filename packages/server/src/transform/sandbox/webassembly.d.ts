/** The part of WebAssembly the sandbox uses. Its usual types live in TypeScript's DOM library, which has no place in a server. */

declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
  }

  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, (...values: number[]) => number | undefined>>);
    readonly exports: unknown;
  }

  class RuntimeError extends Error {}

  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  interface Global<Value> {
    value: Value;
  }
}
