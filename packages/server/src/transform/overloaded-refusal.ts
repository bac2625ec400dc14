/** The response to a request whose code was not run. The runner's message is the end of other sentences, and here a sentence of its own. */

import { Refusal } from "@inlet/protocol";
import type { TransformFault } from "./transform-outcome.ts";

export function overloadedRefusal({ message }: Pick<TransformFault, "message">): Refusal {
  return new Refusal("overloaded", `${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
}
