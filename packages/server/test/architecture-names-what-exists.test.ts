/** ARCHITECTURE.md is a map: every path and every test it names is there. */

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TEXT = readFileSync(`${ROOT}ARCHITECTURE.md`, "utf8");
/** Where a path may begin. */
const BASES = ["", "packages/", "packages/server/", "packages/server/src/", "packages/server/test/"];

function section(title: string): string {
  const from = TEXT.indexOf(`\n## ${title}\n`);
  assert.ok(from >= 0, `there is a section "${title}"`);
  const end = TEXT.indexOf("\n## ", from + 1);
  return TEXT.slice(from, end < 0 ? undefined : end);
}

const quoted = (text: string) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, inside]) => inside as string);
/** A folder named alone is beside the one its row names. */
const isThere = (path: string) =>
  BASES.some((base) => existsSync(`${ROOT}${base}${path}`)) ||
  existsSync(`${ROOT}packages/${path.replace("/", "/src/")}`) ||
  (path.endsWith("/") && globSync(`packages/server/{src/*,test}/${path}`, { cwd: ROOT }).length > 0);

test("every path is there", () => {
  const paths = quoted(TEXT).filter((text) => /^[\w.@/-]+\/[\w./-]*$/.test(text) && !text.startsWith("/") && !text.startsWith("@"));
  assert.ok(paths.length > 60, `${paths.length}`);
  const missing = paths.filter((path) => !isThere(path));
  assert.deepEqual(missing, ["inngest/function.finished"], "what is missing");
});

test("every test that proves a guarantee is there", () => {
  const tests = new Set(
    globSync("packages/**/*.test.ts", { cwd: ROOT, exclude: ["**/node_modules/**"] }).map((file) => basename(file, ".test.ts")),
  );
  const rows = section("Guarantees, and where each is proved")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| guarantee"));
  assert.ok(rows.length > 25);
  for (const row of rows) {
    const proofs = quoted(row.split("|").at(-2) ?? "");
    for (const proof of proofs) assert.ok(tests.has(basename(proof, ".test.ts")), `${proof} proves: ${row}`);
  }
});

/** A declaration, a key of a table, a function in SQL: what is only imported, called or exported again is made elsewhere. */
const declares = (text: string, name: string) =>
  new RegExp(
    `^\\s*"?${name}"?: |^\\s*(?:async |static |readonly )*#?${name}(?:<.*>)?\\(.*\\{$|\\b(?:function\\*?|const|let|class|interface|type) ${name}\\b|FUNCTION ${name}\\b|^${name}\\b`,
    "m",
  ).test(text);

test("every change of the index is made where it says: what to look for is declared there", () => {
  const rows = section("To change X, open Y")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| to change"))
    .map((row) => row.split("|").slice(1, -1));
  assert.ok(rows.length > 0);
  const elsewhere: string[] = [];
  for (const [change, where, what, ...rest] of rows) {
    assert.deepEqual(rest, [], change);
    const texts = quoted(where ?? "").map(textAt);
    assert.ok(quoted(what ?? "").length > 0, `${change} names what to look for`);
    for (const name of quoted(what ?? "")) if (!texts.some((text) => declares(text, name))) elsewhere.push(`${change}: ${name}`);
  }
  assert.deepEqual(elsewhere, [], "what is not declared there");
});

/** The text of a file, or the names of the files in a folder. */
function textAt(path: string): string {
  const found = BASES.map((base) => `${ROOT}${base}${path}`).find((candidate) => existsSync(candidate));
  if (found === undefined) return "";
  return statSync(found).isDirectory() ? globSync("**", { cwd: found }).join("\n") + path : readFileSync(found, "utf8");
}

/** Files of the server that wait once for something and do not ask again. */
const WAITS_ONCE: Readonly<Record<string, string>> = {
  "api/databases/databases-routes.ts": "how long a list waits for the size of a database",
  "execute/call/response-collector.ts": "the time limit of a call",
  "execute/clock.ts": "defines the timers that others use",
  "execute/queue/poison-detector.ts": "the end of a probe",
  "jobs/jobs.ts": "how long a response waits for the items of a job",
  "main.ts": "the time limit of a stop after a fault",
  "receive/http-edge.ts": "the pace of refusals over a quota",
  "receive/connections/close-lingering.ts": "how long the rest of a body is read",
  "service/report-faults.ts": "how long a database works before its recovery is logged",
  "store/postgres/database.ts": "the time limit of a transaction",
  "store/postgres/reach-database.ts": "how long a database may take to give a sign of life",
};
/** A timer that is set, or an entry that is put back into the queue; the timeout of a socket is none. */
const TIMER = /(?<!\.)\bset(Timeout|Interval)\(|\bsetTimeout as \w+|\bclock\.after\(|\bsleepOn\(|\bstore\.queueReschedule\(/;

const serverFiles = globSync("**/*.ts", { cwd: `${ROOT}packages/server/src` }).filter((file) => !/\.test\.ts$|conformance/.test(file));
const filesWithTimers = serverFiles.filter((file) => TIMER.test(readFileSync(`${ROOT}packages/server/src/${file}`, "utf8")));
const loops = () =>
  section("Loops")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| loop"))
    .map((row) => row.split("|").slice(1, -1));

test("every loop tells its file, what wakes, bounds and ends it, and the file has a timer", () => {
  assert.ok(loops().length > 30, `${loops().length}`);
  for (const cells of loops()) {
    assert.equal(cells.length, 6, cells.join("|"));
    assert.ok(
      cells.every((cell) => cell.trim() !== ""),
      cells.join("|"),
    );
    const [file = ""] = quoted(cells[1] as string);
    assert.ok(filesWithTimers.includes(file), `${file} exists and has a timer: ${cells[0]}`);
  }
});

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, minutes: 60_000, MB: 1_000_000, MiB: 1_048_576 };

/** Durations, sizes and counts of a row. */
function figuresIn(cells: readonly string[]): { said: string; value: number }[] {
  return [...cells.join(" | ").matchAll(/(?<![\w.,])(\d[\d,]*(?:\.\d+)?) ([A-Za-z]+)/g)]
    .map(([said, digits = "", unit = ""]) => ({ said, value: Number(digits.replaceAll(",", "")) * (UNITS[unit] ?? 1) }))
    .filter(({ value }) => value > 1);
}

/** The numbers that a text contains, also as products: `4 * 1024`, `1_000`. */
function numbersIn(text: string): Set<number> {
  const products = [...text.matchAll(/\d[\d_.]*(?: \* \d[\d_.]*)*/g)].map(([product]) =>
    product.split(" * ").reduce((value, factor) => value * Number(factor.replaceAll("_", "")), 1),
  );
  return new Set(products);
}

test("every figure of a loop stands in the code of the files that its row names", () => {
  for (const cells of loops()) {
    const known = numbersIn(
      quoted(cells[1] as string)
        .map(textAt)
        .join("\n"),
    );
    const missing = figuresIn(cells.slice(2)).filter(({ value }) => !known.has(value));
    assert.deepEqual(
      missing.map(({ said }) => said),
      [],
      cells[0],
    );
  }
});

test("every file of the server with a timer is named as a loop, or waits only once", () => {
  const named = new Set(loops().flatMap((cells) => quoted(cells[1] as string)));
  const once = Object.keys(WAITS_ONCE);
  assert.deepEqual(filesWithTimers.filter((file) => !named.has(file)).sort(), once.sort());
});
