import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { CommandFault } from "../../command-line/command-fault.ts";
import { readFolder, readFolderIfAny } from "./read-folder.ts";

function folderOf(t: TestContext, files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), "inlet-webhooks-"));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return dir;
}

function faultsOf(dir: string): string[] {
  try {
    readFolder(dir);
    return [];
  } catch (error) {
    assert.ok(error instanceof CommandFault);
    return error.lines.map((line) => line.replaceAll(`${dir}/`, ""));
  }
}

test("entries in the order of their names; folders of others are passed over", (t) => {
  const dir = folderOf(t, {
    "b/webhook.json": '{"name":"B"}',
    "b/transform.js": "() => ({})",
    "a/webhook.json": '{"name":"A"}',
    "a/transform.js": "() => ({})",
    "a/fixtures.json": '[{"title":"t","request":{"headers":{}},"event":{"name":"x"}}]',
    "docs/readme.md": "",
    ".hidden/webhook.json": "{",
    "notes.txt": "",
  });
  assert.deepEqual(
    readFolder(dir).map(({ slug, name, fixtures }) => [slug, name, fixtures.length]),
    [
      ["a", "A", 1],
      ["b", "B", 0],
    ],
  );
});

test("every mistake of every file is reported at once", (t) => {
  const dir = folderOf(t, {
    "a/webhook.json": '{"name":\n}',
    "a/transform.js": "",
    "b/webhook.json": '{"name":"B"}',
    "c/transform.js": "",
    "d/fixtures.json": "[]",
    "e/webhook.json": '{"name":"E"}',
    "e/transform.js": "",
    "e/fixtures.json":
      '[{"title":"","request":{"headers":{"A":1},"json":{},"text":""},"event":{}},{"title":"t","request":{"header":{}},"event":[]},7]',
    "f/webhook.json": '{"name":"F"}',
    "f/transform.js": "",
    "f/fixtures.json": "{}",
  });
  assert.deepEqual(faultsOf(dir), [
    "a/webhook.json:2:1: Unexpected token '}' (not valid JSON)",
    "b/transform.js is missing",
    "c/webhook.json is missing",
    `${join(dir, "d")} has fixtures but no webhook.json and no transform.js`.replace(`${dir}/`, ""),
    "e/fixtures.json: fixture 1: title must be a non-empty string",
    'e/fixtures.json: fixture 1: request.headers["A"] must be a string',
    "e/fixtures.json: fixture 1: request has json or text, not both",
    "e/fixtures.json: fixture 2: event must be an object",
    'e/fixtures.json: fixture 2: request has a field "header", which is unknown; known fields: headers, query, json, text',
    "e/fixtures.json: fixture 2: request.headers must be an object",
    "e/fixtures.json: fixture 3 must be an object",
    "f/fixtures.json: the fixtures must be a list",
  ]);
});

test("a folder that is not there is an error, except where it need not be", (t) => {
  const dir = join(folderOf(t, { file: "" }), "none");
  assert.match(faultsOf(dir)[0] ?? "", /^There is no folder /);
  assert.deepEqual(readFolderIfAny(dir), []);
  assert.match(faultsOf(join(dirname(dir), "file"))[0] ?? "", /is not a folder/);
});
