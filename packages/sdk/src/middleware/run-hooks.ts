/** Runs the hooks of a client's middleware. */

import type { BeforeFunction, Middleware } from "./middleware.ts";

type HookName = Exclude<keyof Middleware, "name" | "encode" | "decode">;
type Argument<Name extends HookName> = Parameters<NonNullable<Middleware[Name]>>[0];

const HOOKS = new Set<string>([
  "name",
  "beforeSend",
  "afterSend",
  "beforeFunction",
  "afterFunction",
  "beforeStep",
  "afterStep",
  "encode",
  "decode",
]);

/** A misspelt hook would never run. */
export function checkMiddleware(list: readonly Middleware[]): void {
  for (const [at, one] of list.entries()) {
    if (typeof one?.name !== "string" || !one.name) throw new TypeError(`middleware[${at}] needs a name`);
    const unknown = Object.keys(one).find((hook) => !HOOKS.has(hook));
    if (unknown !== undefined)
      throw new TypeError(`Middleware "${one.name}" has no hook "${unknown}". The hooks are ${[...HOOKS].slice(1).join(", ")}`);
  }
}

/** The argument with what each hook changed. Hooks named after run in reverse. */
export async function runHooks<Name extends HookName>(
  list: readonly Middleware[],
  name: Name,
  argument: Argument<Name>,
): Promise<Argument<Name>> {
  let current = argument;
  for (const one of name.startsWith("after") ? list.toReversed() : list) {
    const hook = one[name] as ((argument: Argument<Name>) => unknown) | undefined;
    if (hook) current = changed(one, name, current, await hook.call(one, current));
  }
  return current;
}

/** `event` is the first of `events`, whichever of them a hook changed. */
export async function runBeforeFunction(list: readonly Middleware[], argument: BeforeFunction): Promise<BeforeFunction> {
  let current = argument;
  for (const one of list) {
    const next = await runHooks([one], "beforeFunction", current);
    const [first, ...rest] = next.events;
    const event = next.events === current.events ? next.event : first;
    current = { ...next, event, events: [event, ...rest] };
  }
  return current;
}

/** What was thrown, in a form that is told from nothing: anything can be thrown, undefined too. */
export function thrown(value: unknown): { result: undefined; error: unknown } {
  return { result: undefined, error: value ?? new Error(String(value)) };
}

function changed<T>({ name }: Middleware, hook: string, argument: T, returned: unknown): T {
  if (returned === undefined || returned === null) return argument;
  if (typeof returned !== "object" || Array.isArray(returned))
    throw new TypeError(`Middleware "${name}": ${hook} has to return an object with the fields to change, or nothing`);
  return { ...argument, ...returned };
}
