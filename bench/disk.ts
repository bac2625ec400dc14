/**
 * How long the disk takes to keep what one group of events writes. The floor of accepting stores nothing, so on a slow disk a share of
 * it says more about the disk than about Inlet: these rows tell the two apart.
 */

import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "./report.ts";

/** What a commit of some 60 events writes: 20 pages, over and over in a file of 16 MiB, as the write-ahead log does. */
const GROUP_BYTES = 20 * 4_120;
const FILE_BYTES = 16 * 1024 * 1024;
const WRITES = 400;

export function benchDisk(folder: string, label: string): Row[] {
  const path = join(folder, "disk");
  const file = openSync(path, "w");
  const group = Buffer.alloc(GROUP_BYTES, 1);
  const times: number[] = [];
  try {
    for (let n = 0; n < WRITES; n++) {
      const begun = performance.now();
      writeSync(file, group, 0, GROUP_BYTES, (n * GROUP_BYTES) % FILE_BYTES);
      fsyncSync(file);
      times.push(performance.now() - begun);
    }
  } finally {
    closeSync(file);
    rmSync(path);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] as number;
  return [
    { what: `${label}: the disk keeps a group's bytes, p50`, value: at(0.5), unit: "ms" },
    { what: `${label}: the disk keeps a group's bytes, p99`, value: at(0.99), unit: "ms" },
  ];
}
