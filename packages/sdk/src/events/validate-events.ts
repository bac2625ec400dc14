/** Validates events against the schemas of a client, if enabled. */

import { type EventFault, NonRetriableError, SendError } from "../errors.ts";
import type { EventPayload, EventSchemas, ReceivedEvent } from "./event-types.ts";
import type { SchemaIssue, StandardSchemaV1 } from "./standard-schema.ts";

/** Refuses a send whose events do not match their schemas, with every fault. The events are sent as given. */
export async function validateSent(schemas: EventSchemas, events: readonly EventPayload[]): Promise<void> {
  const checks = await Promise.all(events.map(async (event, index) => faultsOf(schemaFor(schemas, event), event, index)));
  const details = checks.flat();
  if (details.length === 0) return;
  const first = details[0] as EventFault;
  throw new SendError(`events[${first.index}].${first.field}: ${first.message} (schema of "${events[first.index]?.name}")`, {
    code: "event_invalid",
    details,
  });
}

/** The event with the schema's output as its data. A payload that does not match never will: no retry. */
export async function validateReceived(schemas: EventSchemas, event: ReceivedEvent): Promise<ReceivedEvent> {
  const schema = schemaFor(schemas, event);
  if (!schema) return event;
  const result = await schema["~standard"].validate(event.data);
  if (!result.issues) return { ...event, data: result.value as ReceivedEvent["data"] };
  throw new NonRetriableError(`The event ${event.name} breaks its schema: ${faultText(result.issues)}`);
}

export function faultText(issues: readonly SchemaIssue[]): string {
  return issues.map((issue) => `${fieldOf(issue)}: ${issue.message}`).join("; ");
}

function schemaFor(schemas: EventSchemas, { name }: EventPayload): StandardSchemaV1 | undefined {
  return Object.hasOwn(schemas, name) ? schemas[name] : undefined;
}

async function faultsOf(schema: StandardSchemaV1 | undefined, event: EventPayload, index: number): Promise<EventFault[]> {
  const result = await schema?.["~standard"].validate(event.data);
  return (result?.issues ?? []).map((issue) => ({ index, field: fieldOf(issue), message: issue.message }));
}

function fieldOf({ path = [] }: SchemaIssue): string {
  return ["data", ...path.map((part) => String(typeof part === "object" ? part.key : part))].join(".");
}
