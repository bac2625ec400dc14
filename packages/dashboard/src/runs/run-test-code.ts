/**
 * A run as a test of the SDK's test kit. The results of its steps are mocks. The step that failed has none if it can run in a test, so
 * that the test fails as the run did until the code is mended.
 */

import { entriesOf, formatJson, type JsonText, membersOf } from "../api/json-text.ts";

/** Time passes at once in a test. */
const UNMOCKED: ReadonlySet<string> = new Set(["sleep", "defer"]);
/** The code of these is in the function; all others need the service. */
const RUN_LOCALLY: ReadonlySet<string> = new Set(["run", "wrap", "send"]);

/** `copy` is what `GET /v1/runs/:id/copy` returned; `order` the ids of the run's steps in the order in which the function came to them. */
export function runTestCode(copy: JsonText, order: readonly string[]): string {
  const members = membersOf(copy);
  const value = (name: string) => JSON.parse(members.get(name) ?? "null");
  const mocks = mocksOf(members, order);
  const given = givenEvents(members.get("events") ?? "[]");
  const kit = mocks.some(({ isInOrder }) => isInOrder) ? "inOrder, runFunction" : "runFunction";
  const error = value("error") as { name: string; message: string } | null;
  return `${[
    'import assert from "node:assert/strict";',
    'import { test } from "node:test";',
    [`import { ${kit} }`, 'from "@inlet/sdk/testing";'].join(" "),
    `import { fn } from "./my-function.ts"; // the function ${onOneLine(value("function"))}`,
    "",
    `const ${given.name} = ${given.text};`,
    "",
    "// The results that the steps had in the run.",
    `const steps = {${mocks.map(({ text }) => `\n  ${text},`).join("")}${mocks.length > 0 ? "\n" : ""}};`,
    "",
    `test(${JSON.stringify(`${value("function")}, as in the run ${value("runId")}`)}, async () => {`,
    `  const { error${error ? "" : ", result"} } = await runFunction(fn, { ${given.name}, steps });`,
    ...(error ? [`  // The run failed: ${onOneLine(`${error.name}: ${error.message}`)}`] : []),
    "  assert.ifError(error);",
    ...(error ? [] : [`  assert.deepEqual(result, ${formatJson(members.get("output") ?? "null", "  ")});`]),
    "});",
  ].join("\n")}\n`;
}

function givenEvents(events: JsonText): { name: string; text: string } {
  const all = entriesOf(events);
  const [first] = all;
  return all.length === 1 && first ? { name: "event", text: formatJson(first.text) } : { name: "events", text: formatJson(events) };
}

interface Mock {
  text: string;
  isInOrder: boolean;
}

/** One for each step id of the function. Steps that a loop repeats have one each, in order. */
function mocksOf(copy: ReadonlyMap<string, JsonText>, order: readonly string[]): Mock[] {
  const found = entriesOf(copy.get("steps") ?? "[]").map(({ text }) => membersOf(text));
  const stoppedAt = copy.get("stoppedAt") ?? "null";
  if (stoppedAt !== "null" && !RUN_LOCALLY.has(textOf(membersOf(stoppedAt), "kind"))) found.push(membersOf(stoppedAt));
  const position = (step: ReadonlyMap<string, JsonText>) => order.indexOf(textOf(step, "id"));
  const byName = new Map<string, string[]>();
  for (const step of found.sort((a, b) => position(a) - position(b))) {
    if (UNMOCKED.has(textOf(step, "kind"))) continue;
    const name = textOf(step, "name");
    byName.set(name, [...(byName.get(name) ?? []), mockOf(textOf(step, "kind"), step.get("value") ?? "null")]);
  }
  const stoppedIn = stoppedAt === "null" ? null : textOf(membersOf(stoppedAt), "name");
  return [...byName].map(([name, mocks]) => {
    // A mock for all steps with the id would also stand for the one that has to run.
    const isInOrder = mocks.length > 1 || name === stoppedIn;
    return { isInOrder, text: `${keyText(name)}: ${isInOrder ? `inOrder(${mocks.join(", ")})` : mocks[0]}` };
  });
}

/** Results are stored as the SDK receives them: `{"data":…}`, `{"error":…}`, or the event itself. */
function mockOf(kind: string, value: JsonText): string {
  if (kind === "wait" || value === "null") return formatJson(value, "  ");
  const members = membersOf(value);
  const error = members.get("error");
  if (error !== undefined) return throwing(membersOf(error));
  const data = members.get("data") ?? "null";
  return kind === "fetch" ? responseText(membersOf(data)) : formatJson(data, "  ");
}

function throwing(error: ReadonlyMap<string, JsonText>): string {
  const name = error.get("name") ?? '"Error"';
  return `() => {\n    throw Object.assign(new Error(${error.get("message") ?? '""'}), { name: ${name} });\n  }`;
}

function responseText(response: ReadonlyMap<string, JsonText>): string {
  const headers = formatJson(response.get("headers") ?? "{}", "  ");
  return `{ status: ${response.get("status_code") ?? "200"}, headers: ${headers}, body: ${response.get("body") ?? '""'} }`;
}

function textOf(members: ReadonlyMap<string, JsonText>, name: string): string {
  return JSON.parse(members.get(name) ?? '""');
}

/** In an object's literal, `"__proto__"` is not a key like others. */
function keyText(name: string): string {
  return name === "__proto__" ? '["__proto__"]' : JSON.stringify(name);
}

/** What comes from a run must not end a comment: the rest would be code. */
function onOneLine(text: string): string {
  return text.replaceAll(/[\r\n\u2028\u2029]+/g, " ");
}
