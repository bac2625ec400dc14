import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { temporaryFolder } from "../../../../server/test/support/service.ts";
import { CommandFault } from "../../command-line/command-fault.ts";
import { readDefinitions } from "./read-definitions.ts";

function folderOf(t: TestContext, files: Record<string, string>): string {
  const dir = temporaryFolder(t);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  return dir;
}

/** The faults, without the folder. */
function faultsOf(dir: string): readonly string[] {
  try {
    readDefinitions(dir);
    return [];
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    return error.lines.map((line) => line.replaceAll(`${dir}/`, ""));
  }
}

function faultsIn(t: TestContext, text: string, file = "a.yaml"): readonly string[] {
  return faultsOf(folderOf(t, { [file]: text }));
}

test("files of several folders describe one installation, an environment also in parts", (t) => {
  const dir = folderOf(t, {
    "platform.yaml": "environments:\n  a: { quotas: { eventsPerDay: 5 } }\n  b:\n",
    "teams/a.yml": "environments:\n  a:\n    retention: { runs: 1d }\n    alertRules: {}\n    eventTypes: { x/y: { retention: 7d } }\n",
    "keys.json": '{ "$schema": "./inlet.schema.json", "apiKeys": { "ci": { "role": "viewer" } } }',
    "empty.yaml": "# nothing yet\n",
    "inlet.schema.json": "not read",
    "webhooks/a/webhook.json": "not read",
    ".hidden.yaml": "not read: [",
    "notes.txt": "not read",
  });
  symlinkSync(dir, join(dir, "round"));
  const { objects, places } = readDefinitions(dir);
  assert.deepEqual(
    objects.map(({ section, environment, name, fields }) => [section, environment, name, fields]),
    [
      ["apiKeys", null, "ci", { role: "viewer" }],
      ["environments", "a", "a", { quotas: { eventsPerDay: 5 }, retention: { runs: "1d" } }],
      ["environments", "b", "b", {}],
      ["eventTypes", "a", "x/y", { retention: "7d" }],
    ],
  );
  assert.deepEqual(places, [
    { section: "apiKeys", environment: null },
    { section: "eventTypes", environment: "a" },
    { section: "alertRules", environment: "a" },
  ]);
});

test("what is described twice is refused with both places", (t) => {
  const dir = folderOf(t, {
    "a.yaml": "environments:\n  a:\n    retention: { runs: 1d }\n    alertRules:\n      r: { kind: failure_count, threshold: 1 }\n",
    "b.yaml": "environments:\n  a:\n    retention: { events: 1d }\n    alertRules:\n      r: { kind: failure_count, threshold: 2 }\n",
  });
  assert.deepEqual(faultsOf(dir), [
    'b.yaml:2:3: "retention" of the environment "a" is described in a.yaml:2:3, too',
    'b.yaml:5:7: the alert rule "r" is described in a.yaml:5:7, too',
  ]);
});

test("every fault has its place, and says what is wrong with what", (t) => {
  const text = `environments:
  a:
    retenton: { events: 1d }
    retention: { events: 5 }
    quotas: { eventsPerDay: 0 }
    alertRules:
      r: { kind: silence }
      s: { kind: failure_count }
      u: { kind: silence, event: a, windowSeconds: often }
    functions:
      f: { concurrency: "3" }
  a b: {}
apiKeys:
  k: { role: boss, secret: x }
`;
  assert.deepEqual(faultsIn(t, text), [
    'a.yaml:3:5: environments.a has a field "retenton", which is unknown; did you mean "retention"?',
    "a.yaml:4:18: environments.a.retention.events must be string or null",
    "a.yaml:5:15: environments.a.quotas.eventsPerDay must be >= 1",
    'a.yaml:7:7: environments.a.alertRules.r lacks "windowSeconds"',
    'a.yaml:8:7: environments.a.alertRules.s lacks "threshold"',
    'a.yaml:9:37: environments.a.alertRules.u.windowSeconds is not valid: The measured window; default 300. With silence, how long it may last, or "usual".',
    "a.yaml:11:12: environments.a.functions.f.concurrency must be integer or null",
    'a.yaml:12:3: environments has the name "a b": use only letters, digits and . _ - /',
    "a.yaml:14:8: apiKeys.k.role must be one of owner, admin, operator, viewer, metrics, ingest-admin, read",
    'a.yaml:14:20: apiKeys.k has a field "secret", which is unknown; known fields: role, environments',
  ]);
  assert.deepEqual(faultsIn(t, "environments:\n  branch:\n    alertRules: { r: { kind: failure_count, threshold: 1 } }\n"), [
    'a.yaml:3:19: "branch" is what all branch environments share: it has event types only, and webhooks',
  ]);
  assert.match(faultsIn(t, "environments:\n  pr-1: { kind: branch, eventTypes: { a: {} } }\n")[0] ?? "", /belongs to "branch"/);
  assert.match(faultsOf(join(temporaryFolder(t), "none"))[0] ?? "", /^There is no folder .*inlet export/);
});

test("hostile files are refused with a sentence", (t) => {
  const bomb = `a0: &a0 [x, x]\n${Array.from({ length: 40 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`).join("")}`;
  for (const [name, text, expected] of [
    ["repeated keys", "apiKeys: {}\nenvironments: {}\napiKeys: {}\n", /^a\.yaml:3:1: this key stands twice in the same map$/],
    ["repeated keys of JSON", '{"apiKeys": {"a": {"role": "viewer", "role": "owner"}}}', /^a\.yaml:1:38: this key stands twice/],
    ["many aliases", bomb, /^a\.yaml: uses aliases more than 100 times$/],
    ["an alias of itself", "environments: &a\n  x: *a\n  y: *a\n  z: *a\n", /^a\.yaml: an alias must not contain itself$/],
    ["deep brackets", `environments: ${"[".repeat(300_000)}`, /^a\.yaml: is nested too deeply$/],
    ["deep lines", Array.from({ length: 1_500 }, (_, n) => `${" ".repeat(n)}a:`).join("\n"), /nested|must be object/],
    ["many keys", `x:\n${Array.from({ length: 10_000 }, (_, n) => `  k${n}: 1\n`).join("")}`, /has a field "x"/],
    [
      "deep maps",
      `environments: { a: { eventTypes: { x: { schema: ${'{"a":'.repeat(150)}1${"}".repeat(150)} } } } }`,
      /nested more than 100 deep/,
    ],
    ["a large file", `# ${"x".repeat(5 * 1024 * 1024)}\n`, /^a\.yaml: is larger than 4 MiB$/],
    ["a tag", "environments: !!binary aGk=\n", /^a\.yaml:1:\d+: tags such as \S+ are not supported$/],
    ["another tag", "environments: !<tag:x,2000:js/function> 'x'\n", /^a\.yaml:1:\d+: /],
    ["several documents", "environments: {}\n---\napiKeys: {}\n", /several documents/],
    ["no number", "environments: { a: { bodyLimitBytes: .inf } }\n", /numbers must be finite/],
    ["no map", "- a\n", /^a\.yaml:1:1: the file must be object$/],
    ["no text", "\u0000\u0001", /^a\.yaml:1:\d+: /],
    ["a prototype", "__proto__: { environments: {} }\nconstructor: {}\n", /has a field "__proto__", which is unknown/],
    ["no YAML", "environments: [\n", /^a\.yaml:\d+:\d+: .*\(not valid YAML\)$/],
    ["a merge", "environments: { <<: { a: {} } }\n", /has the name "<<": use only/],
  ] as const) {
    const faults = faultsIn(t, text);
    assert.match(faults[0] ?? "none", expected, name);
    assert.ok(faults.length <= 21, `${name}: ${faults.length} faults`);
  }
  assert.equal(({} as { environments?: object }).environments, undefined);
  const shared = "environments:\n  a: { retention: &r { runs: 1d } }\n  b: { retention: *r }\n";
  assert.deepEqual(faultsIn(t, shared), [], "an alias by itself is fine");
});
