/**
 * Validates the data of an invocation against the schemas of the invoked function's triggers: an invocation stands for one of its events.
 * The caller and the invoked function apply the same rule, because the caller may be another app or the REST API.
 */

import { NonRetriableError } from "../errors.ts";
import type { FunctionReference } from "../functions/function-reference.ts";
import type { InletFunction } from "../functions/inlet-function.ts";
import type { EventSchemas, ReceivedEvent } from "./event-types.ts";
import type { SchemaResult, StandardSchemaV1 } from "./standard-schema.ts";
import { faultText } from "./validate-events.ts";

export const INVOKED_EVENT = "inngest/function.invoked";

/** The schema's output, or a sentence about what is wrong. */
export type CheckedInvocation = { ok: true; data: unknown } | { ok: false; fault: string };

type Outcome = CheckedInvocation | Promise<CheckedInvocation>;

/** Synchronous if the schemas are. */
export function validateInvocation(fn: Pick<InletFunction, "id" | "client" | "triggers">, data: unknown): Outcome {
  return validate(fn.id, fn.client.validates ? schemasOf(fn) : [], data);
}

/** A reference with a schema is checked whether or not the client validates: the schema is given for this. */
export function validateReference({ id, schema }: Pick<FunctionReference, "id" | "schema">, data: unknown): Outcome {
  return validate(id, schema ? [schema] : [], data);
}

function validate(id: string, schemas: readonly StandardSchemaV1[], data: unknown): Outcome {
  const results = schemas.map((schema) => schema["~standard"].validate(data));
  if (results.every((result) => !(result instanceof Promise))) return checked(id, data, results as SchemaResult<unknown>[]);
  return Promise.all(results).then((settled) => checked(id, data, settled));
}

/** The invoked function's event, with the schema's output as its data. `_inngest` is the service's, not a part of what the caller gave. */
export async function validateInvoked(fn: InletFunction, event: ReceivedEvent): Promise<ReceivedEvent> {
  const { _inngest, ...data } = event.data;
  const checked = await validateInvocation(fn, data);
  if (checked.ok) return { ...event, data: checked.data as ReceivedEvent["data"] };
  throw new NonRetriableError(checked.fault);
}

/** Data that matches the schema of any trigger is accepted, and so is everything if a trigger has none. */
function checked(id: string, data: unknown, results: readonly SchemaResult<unknown>[]): CheckedInvocation {
  const [first] = results;
  if (first === undefined) return { ok: true, data };
  for (const result of results) if (!result.issues) return { ok: true, data: result.value };
  return { ok: false, fault: `The data of the invocation of "${id}" breaks its schema: ${faultText(first.issues ?? [])}` };
}

/** None if a trigger has none. */
function schemasOf({ client, triggers }: Pick<InletFunction, "client" | "triggers">): StandardSchemaV1[] {
  const found = triggers.map((trigger) => ("event" in trigger ? schemasNamed(client.schemas, trigger.event) : []));
  return found.some((schemas) => schemas.length === 0) ? [] : found.flat();
}

function schemasNamed(schemas: EventSchemas, pattern: string): StandardSchemaV1[] {
  const prefix = pattern.endsWith("*") ? pattern.slice(0, -1) : undefined;
  return Object.entries(schemas).flatMap(([name, schema]) =>
    (prefix === undefined ? name === pattern : name.startsWith(prefix)) ? [schema] : [],
  );
}
