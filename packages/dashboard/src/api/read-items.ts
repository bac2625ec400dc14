/** Reads items from the text of a response. Payloads stay text; everything else is parsed. */

import { entriesOf, type JsonText, membersOf, objectText } from "./json-text.ts";
import type { EventItem, Run, RunAttempt, RunCall, RunStep, SchemaFault, TestResult } from "./types.ts";

const EVENT_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "name",
  "data",
  "ts",
  "receivedAt",
  "environment",
  "source",
  "duplicates",
  "reconciled",
  "dedupId",
  "schema",
  "runs",
]);

export function readEvent(text: JsonText): EventItem {
  const members = membersOf(text);
  const value = (name: string) => JSON.parse(members.get(name) ?? "null");
  return {
    id: value("id"),
    name: value("name"),
    data: members.get("data") ?? "{}",
    ts: value("ts"),
    receivedAt: value("receivedAt"),
    environment: value("environment"),
    source: value("source"),
    duplicates: value("duplicates") ?? 0,
    isReconciled: value("reconciled") === true,
    dedupId: value("dedupId"),
    schemaFaults: (value("schema") as { errors: SchemaFault[] } | null)?.errors ?? [],
    extras: new Map([...members].filter(([name]) => !EVENT_FIELDS.has(name))),
  };
}

/** The event as it was sent. */
export function sentEvent(event: EventItem, { withId = true, withTs = true } = {}): JsonText {
  const members: [string, JsonText][] = [["name", JSON.stringify(event.name)]];
  if (withId && event.dedupId !== null) members.push(["id", JSON.stringify(event.dedupId)]);
  if (withTs) members.push(["ts", String(event.ts)]);
  return objectText([...members, ...event.extras, ["data", event.data]]);
}

export function readRun(text: JsonText): Run {
  const members = membersOf(text);
  const { output, steps, attempts, calls, ...rest } = Object.fromEntries(members);
  const plain = JSON.parse(objectText(Object.entries(rest) as [string, JsonText][]));
  return {
    ...plain,
    output: textOrNull(output),
    steps: entriesOf(steps ?? "[]").map(({ text: step }) => readStep(step)),
    attempts: JSON.parse(attempts ?? "[]") as RunAttempt[],
    calls: JSON.parse(calls ?? "[]") as RunCall[],
  };
}

function readStep(text: JsonText): RunStep {
  const { output, ...rest } = Object.fromEntries(membersOf(text));
  return { ...JSON.parse(objectText(Object.entries(rest) as [string, JsonText][])), output: textOrNull(output) };
}

export function readTestResult(text: JsonText): TestResult {
  const members = membersOf(text);
  const value = (name: string) => JSON.parse(members.get(name) ?? "null");
  return {
    ok: value("ok"),
    event: members.get("event") ?? null,
    handshake: value("handshake"),
    verification: value("verification"),
    error: value("error"),
    logs: value("logs") ?? [],
    durationMs: value("durationMs"),
  };
}

function textOrNull(text: JsonText | undefined): JsonText | null {
  return text === undefined || text === "null" ? null : text;
}
