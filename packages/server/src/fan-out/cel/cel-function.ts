/** A function that an expression may call. */

import type { Scope, Value } from "./values.ts";

export interface CelFunction {
  /** With how many arguments it can be called: as `f(a, b)`, and as `a.f(b)`, whose `a` counts. Absent: cannot be called so. */
  readonly plain?: readonly number[];
  readonly method?: readonly number[];
  readonly call: (args: readonly Value[], scope: Scope) => Value;
}
