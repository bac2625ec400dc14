/**
 * An event as the REST API and live streams show it, as JSON text. The sender's own text of `data` and of unknown fields is included
 * unchanged; if such a field has the name of one of the service's own, the service's takes precedence.
 */

import { jsonMembers } from "@inlet/protocol";
import { type EventSource, readMirrored, readReconciled, type StoredEvent } from "../store/contract/index.ts";

export interface EventNames {
  environment: string;
  source(source: EventSource): string;
}

/** `runs` are the runs it started, if requested. */
export function eventView(event: StoredEvent, names: EventNames, runs?: readonly object[]): string {
  const own: [string, string][] = [
    ["id", quote(event.id)],
    ["name", quote(event.name)],
    ["data", event.data],
    ["ts", String(event.ts)],
    ["receivedAt", quote(new Date(event.receivedAt).toISOString())],
    ["environment", quote(names.environment)],
    ["source", JSON.stringify(sourceView(event, names))],
    ["duplicates", String(event.duplicates)],
  ];
  if (readReconciled(event.source).isReconciled) own.push(["reconciled", "true"]);
  if (event.schemaErrors !== undefined) own.push(["schema", `{"valid":false,"errors":${event.schemaErrors}}`]);
  if (runs) own.push(["runs", JSON.stringify(runs)]);
  if (event.dedupId !== null) own.push(["dedupId", quote(event.dedupId)]);
  return `{${[...own, ...extrasOf(event)].map(([key, value]) => `${quote(key)}:${value}`).join(",")}}`;
}

function sourceView({ source: stored, sourceRun }: StoredEvent, names: EventNames) {
  const { source, isMirrored } = readMirrored(readReconciled(stored).source);
  return { ...source, name: names.source(source), ...(isMirrored && { mirrored: true }), ...(sourceRun && { run: sourceRun }) };
}

/** Names that the service uses, whether or not this event has them: a sender's field could be taken for the service's own. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "name",
  "data",
  "ts",
  "receivedAt",
  "dedupId",
  "environment",
  "source",
  "duplicates",
  "reconciled",
  "schema",
  "runs",
]);

function extrasOf({ extras }: StoredEvent): [string, string][] {
  if (extras === null) return [];
  return jsonMembers(extras)
    .filter(({ key }) => !OWN_FIELDS.has(key))
    .map(({ key, start, end }) => [key, extras.slice(start, end)]);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
