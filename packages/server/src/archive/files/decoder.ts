/**
 * The process that parses archived files for a node, one task after the other: decoder-process.ts starts it. It opens nothing itself: it asks
 * the node for the bytes it needs. It ends with the node, and its watch ends it when a task takes too much time or memory.
 */

import { Worker } from "node:worker_threads";
import type { FileMetaData } from "hyparquet";
import type { ArchivedRow, ArchivedTable } from "../../store/contract/index.ts";
import type { WatchData } from "./decoder-watch.ts";
import { parseFooter, parseGroup } from "./parse-file.ts";

export interface DecoderTask {
  table: ArchivedTable;
  byteLength: number;
  /** The footer with one of its groups, whose rows are read; absent: the footer itself is. */
  group?: { metadata: FileMetaData; columns?: readonly string[] };
}

export type DecoderRequest = { task: DecoderTask } | { slice: number; bytes: Uint8Array | null };
export type DecoderResult = { footer: FileMetaData } | { rows: ArchivedRow[] } | { failure: string };
export type DecoderMessage = DecoderResult | { slice: number; start: number; end: number };

const [cpuMs, memoryBytes] = process.argv.slice(2).map(Number) as [number, number];
/** One number: that of the task under way, 0 for none. */
const current = new Int32Array(new SharedArrayBuffer(4));
const waiting = new Map<number, (bytes: Uint8Array | null) => void>();
let [tasks, slices] = [0, 0];

const workerData: WatchData = { current, cpuMs, memoryBytes };
new Worker(new URL("./decoder-watch.ts", import.meta.url), { workerData }).unref();
process.on("disconnect", () => process.exit());
process.on("message", (request: DecoderRequest) => {
  if ("task" in request) void work(request.task);
  else {
    waiting.get(request.slice)?.(request.bytes);
    waiting.delete(request.slice);
  }
});

async function work(task: DecoderTask): Promise<void> {
  Atomics.store(current, 0, ++tasks);
  const result = await parse(task).catch((error: unknown) => ({ failure: (error as Error).message }));
  Atomics.store(current, 0, 0);
  send(result);
}

async function parse({ table, byteLength, group }: DecoderTask): Promise<DecoderResult> {
  const file = { byteLength, slice };
  if (!group) return { footer: await parseFooter(table, file) };
  return { rows: await parseGroup(table, file, group.metadata, group.columns) };
}

async function slice(start: number, end: number): Promise<ArrayBuffer> {
  const number = ++slices;
  const bytes = await new Promise<Uint8Array | null>((resolve) => {
    waiting.set(number, resolve);
    send({ slice: number, start, end });
  });
  if (!bytes) throw new Error("its bytes cannot be read");
  // The library reads from the beginning of a buffer; a message may stand within a larger one.
  return bytes.slice().buffer as ArrayBuffer;
}

function send(message: DecoderMessage): void {
  process.send?.(message);
}
