/** Environment variables, on every runtime: some have no `process`, some refuse access to it. */

export type Variables = Readonly<Record<string, string | undefined>>;

interface Runtime {
  process?: { env?: Variables; getBuiltinModule?: (name: string) => unknown };
  Deno?: { env?: { get(name: string): string | undefined } };
}

/** The value of a variable, or undefined if it is unset, empty or inaccessible. `own` takes precedence. */
export function readVariable(name: string, own?: Variables): string | undefined {
  const given = own?.[name];
  if (given) return given;
  const { process, Deno } = globalThis as unknown as Runtime;
  try {
    return process?.env?.[name] || Deno?.env?.get(name) || undefined;
  } catch {
    return undefined;
  }
}

/** A built-in module of Node, if available; a static import would break on edge runtimes. */
export function builtinModule(name: string): unknown {
  try {
    return (globalThis as unknown as Runtime).process?.getBuiltinModule?.(name);
  } catch {
    return undefined;
  }
}
