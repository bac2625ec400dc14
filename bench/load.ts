/**
 * The load generator, a process of its own: keeps a number of connections busy with one request for a fixed time, and prints
 * what it saw as one line of JSON. It speaks to sockets directly, so that on two cores the server is measured and not the client.
 *
 *   node bench/load.ts <url[,url…]> <connections> <name of a body> <seconds>
 *
 * Several URLs are used in turn by the connections.
 */

import { connect, type Socket } from "node:net";
import { BODIES } from "./events.ts";

export interface LoadResult {
  /** Answered with 200. */
  requests: number;
  /** Those and what went before them, to warm up. */
  allRequests: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  failures: number;
}

/** A service that had nothing to do for a while has to be compiled again in part. */
const WARM_UP_SECONDS = 3;
const STATUS_BYTES = 12;

const [urls = "", connections = "1", bodyName = "event", seconds = "5"] = process.argv.slice(2);
const targets = urls.split(",").map((url) => new URL(url));
const body = BODIES[bodyName]?.();
if (body === undefined) throw new Error(`there is no body "${bodyName}", only ${Object.keys(BODIES).join(", ")}`);

const startedAt = performance.now();
const measureFrom = startedAt + WARM_UP_SECONDS * 1_000;
const endAt = measureFrom + Number(seconds) * 1_000;
const latenciesMs: number[] = [];
let answers = 0;
let failures = 0;

await Promise.all(Array.from({ length: Number(connections) }, (_, i) => drive(targets[i % targets.length] as URL)));
report();

/** One connection: send, wait for the whole answer, send again. */
function drive(target: URL): Promise<void> {
  const request = Buffer.from(
    `POST ${target.pathname} HTTP/1.1\r\nhost: ${target.host}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body ?? "")}\r\n\r\n${body}`,
  );
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    let sentAt = 0;
    let received = "";
    let last = Buffer.alloc(0);
    /** Answers to the same request are of one length: those that are, and have the same status, need not be read. */
    const isLikeLast = (chunk: Buffer) => chunk.length === last.length && chunk.compare(last, 0, STATUS_BYTES, 0, STATUS_BYTES) === 0;
    const send = () => {
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on("connect", send);
    socket.on("error", reject);
    socket.on("close", () => resolve());
    socket.on("data", (chunk: Buffer) => {
      if (received !== "" || !isLikeLast(chunk)) {
        received += chunk.toString("latin1");
        if (!isWhole(received)) return;
        last = Buffer.from(received, "latin1");
      }
      const now = performance.now();
      answers++;
      if (!isOk(last)) failures++;
      else if (sentAt >= measureFrom) latenciesMs.push(now - sentAt);
      received = "";
      if (now < endAt) send();
      else socket.destroy();
    });
  });
}

function isOk(answer: Buffer): boolean {
  return answer.toString("latin1", 0, STATUS_BYTES) === "HTTP/1.1 200";
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/i.exec(answer.slice(0, headEnd))?.[1];
  return length !== undefined && answer.length >= headEnd + 4 + Number(length);
}

function report(): void {
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number) => latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? 0;
  const result: LoadResult = {
    requests: latenciesMs.length,
    allRequests: answers,
    seconds: Number(seconds),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failures,
  };
  console.log(JSON.stringify(result));
}
