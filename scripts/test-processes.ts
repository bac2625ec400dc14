/**
 * Which test files share a process. A process loads the service and compiles what it runs; files that share one do that once, which is
 * most of the CPU time of a small file. Tests of one process run one after the other.
 */

import { basename } from "node:path";

/** Of pure rules and small parts. */
const UNIT = /^packages\/\w+\/src\/(?!store\/.*(sqlite|postgres))/;
/** As many as a small machine has cores. */
const UNIT_PROCESSES = 2;
/** So many that the processes end at about the same time. */
const FILES_MAX = 24;

/** Each in a process of its own, before all others: these mostly wait, and others use the processor meanwhile. */
const WAITING = [
  "a-database-that-is-away-harms-only-its-environments.test.ts",
  "a-node-that-stands-still-holds-up-nobody.test.ts",
  "a-stop-ends-without-its-store.test.ts",
];

/**
 * Each in a process of its own: these change the process (its clock, its umask, what an SDK keeps in globals), measure its memory, or are
 * long. Longest first.
 */
const ALONE = [
  "events-and-lists.test.ts",
  "runs-survive-crashes-at-each-point.test.ts",
  "simulation.test.ts",
  "runs-and-repair.test.ts",
  "accessibility.test.ts",
  "webhooks-and-access.test.ts",
  "shared-store.test.ts",
  // They first install packages of other languages.
  "real-go-sdk-runs-unmodified.test.ts",
  "real-python-sdk-runs-unmodified.test.ts",
  "real-sdk-v3-runs-unmodified.test.ts",
  "real-sdk-v4-runs-unmodified.test.ts",
  "runs-survive-crashes.test.ts",
  "sleeping-runs-wake-on-time.test.ts",
  "flow-control-is-honoured.test.ts",
  // Version 3 of the published SDK leaves in a global what version 4 cannot work with.
  "parallel-steps-of-sdk-v3-complete.test.ts",
  "a-build-of-sdk-v3-is-checked.test.ts",
  "realtime-reaches-subscribers.test.ts",
  "readers-cannot-exhaust-memory.test.ts",
  "overload-is-refused-at-once.test.ts",
  "the-store-is-private.test.ts",
];

export interface TestProcess {
  name: string;
  files: readonly string[];
}

/** In the order in which they should start: the longest first, so that the end does not wait for one of them. Files that share a process take longest. */
export function testProcesses(files: readonly string[]): TestProcess[] {
  const waiting = listed(files, WAITING);
  const alone = listed(files, ALONE);
  const shared = files.filter((file) => !waiting.includes(file) && !alone.includes(file));
  const units = shared.filter((file) => UNIT.test(file));
  const others = Object.values(
    Object.groupBy(
      shared.filter((file) => !UNIT.test(file)),
      groupOf,
    ),
  ).filter((group) => group !== undefined);
  return [
    ...separateProcesses(waiting),
    ...split(units, UNIT_PROCESSES).map(sharedProcess),
    ...others.flatMap((group) => split(group, Math.ceil(group.length / FILES_MAX)).map(sharedProcess)),
    ...separateProcesses(alone),
  ];
}

/** Each in a process of its own. */
export function separateProcesses(files: readonly string[]): TestProcess[] {
  return files.map((file) => ({ name: file, files: [file] }));
}

/** In the order of the names. */
function listed(files: readonly string[], names: readonly string[]): string[] {
  return names.flatMap((name) => files.filter((file) => basename(file) === name));
}

/** Files of a package use the same parts. */
function groupOf(file: string): string {
  return file.startsWith("packages/") ? file.split("/").slice(0, 2).join("/") : "scripts";
}

function split(files: readonly string[], count: number): string[][] {
  return Array.from({ length: count }, (_, share) => files.filter((_file, index) => index % count === share)).filter(
    (part) => part.length > 0,
  );
}

function sharedProcess(files: readonly string[]): TestProcess {
  const [first = "", ...rest] = files;
  return { name: rest.length === 0 ? first : `${first} and ${rest.length} more`, files };
}
