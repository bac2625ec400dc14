/**
 * Of the events of one request all are stored, each once, or none is. A request is refused while a schema is in force that refuses one of its
 * events, and only then. Events that do not match are marked while a schema says so, and only then.
 */

import type { BatchNote, SchemaNote } from "../journal-notes.ts";
import { dataOf, type Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

export function checkSchemas(evidence: Evidence, fault: Fault): void {
  for (const batch of evidence.played.journal.batches)
    checkBatch(evidence, batch, (message) => fault(`the batch of events ${batch.events.map(({ n }) => n).join(", ")}: ${message}`));
}

function checkBatch(evidence: Evidence, batch: BatchNote, fault: Fault): void {
  const { events, outcome, mayBeStored } = batch;
  const storedOf = (n: number) => evidence.played.events.filter((event) => dataOf(event).n === n && !event.data.includes('"by":'));
  const counts = events.map(({ n, name }) => storedOf(n).filter((event) => event.name === name).length);
  const isStored = counts.every((count) => count === 1);
  if (!isStored && counts.some((count) => count > 0)) fault(`they are stored ${counts.join(", ")} times`);
  if (outcome === "accepted" && !isStored) fault("it was accepted, and is not stored");
  if (outcome === "refused" && isStored && !mayBeStored) fault("it was refused, and is stored");
  if (outcome === "accepted" && isRefused(evidence, batch, isSure)) fault("it was accepted against a schema");
  if (outcome === "refused" && !isRefused(evidence, batch, isPossible)) fault("it was refused by no schema");
  if (mayBeStored || !isStored) return;
  for (const { n, name, isOdd } of events) {
    const isMarked = storedOf(n).some(({ schemaErrors }) => schemaErrors !== undefined);
    const marking = evidence.played.journal.schemas.filter((schema) => schema.name === name && schema.mode === "warn" && isOdd);
    if (!isMarked && marking.some((schema) => isSure(evidence, schema, batch))) fault(`event ${n} is not marked`);
    if (isMarked && !marking.some((schema) => isPossible(evidence, schema, batch))) fault(`event ${n} is marked`);
  }
}

type InForce = (evidence: Evidence, schema: SchemaNote, batch: BatchNote) => boolean;

function isRefused(evidence: Evidence, batch: BatchNote, isInForce: InForce): boolean {
  const odd = batch.events.filter(({ isOdd }) => isOdd).map(({ name }) => name);
  return evidence.played.journal.schemas.some(
    (schema) => schema.mode === "refuse" && odd.includes(schema.name) && isInForce(evidence, schema, batch),
  );
}

/** All the time until it was answered. */
function isSure(evidence: Evidence, { declaredAt, removeAskedAt }: SchemaNote, { sentAt, answeredAt }: BatchNote): boolean {
  return declaredAt + evidence.tellingMs < sentAt && answeredAt < removeAskedAt;
}

/** At some time meanwhile. */
function isPossible(evidence: Evidence, { askedAt, removedAt }: SchemaNote, { sentAt, answeredAt }: BatchNote): boolean {
  return askedAt <= answeredAt && sentAt <= removedAt + evidence.tellingMs;
}
