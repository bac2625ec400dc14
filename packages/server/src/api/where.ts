/** The parameter `where`: an expression over the payload of events. */

import { checkWhere } from "../fan-out/where.ts";
import { RestRefusal } from "./rest-errors.ts";

export const WHERE = {
  type: "string",
  minLength: 1,
  description:
    'An expression over the payload, such as `data.amount > 100 && data.customer.id == "c_1"`, with the roots `data`, `user`, `name`, `ts` and `v`. It selects the events that a trigger with the same expression would start.',
} as const;

export function readWhere(text: string): string {
  const fault = checkWhere(text);
  if (!fault) return text;
  const { message, position } = fault;
  throw new RestRefusal("request_invalid", `where ${message}, at character ${position}.`, [{ field: "where", message, position }]);
}
