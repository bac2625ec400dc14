/** A function that an expression may call. */

import type { Scope, Value } from "./values.ts";

export interface CelFunction {
  /** The number of arguments: as `f(a, b)`, and as `a.f(b)`, where `a` counts. Absent: it cannot be called that way. */
  readonly plain?: readonly number[];
  readonly method?: readonly number[];
  readonly call: (args: readonly Value[], scope: Scope) => Value;
}
