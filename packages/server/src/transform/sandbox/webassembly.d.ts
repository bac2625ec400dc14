/** The part of WebAssembly that the sandbox uses. Its usual types are in TypeScript's DOM library, which a server does not use. */

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
