/**
 * An app that costs next to nothing, as a process of its own: `node bench/bare-app.ts <base url> <signing key>`. It answers every call with "ok" as an SDK
 * would, and checks and parses nothing. Like the load generator it speaks to sockets directly, so that on two cores the service is measured
 * and not the app. /control tells how many calls were answered; with ?ended=<n> once so many were.
 */

import { type AddressInfo, createServer, type Socket } from "node:net";

const [, , baseUrl = "", signingKey = ""] = process.argv;
const ANSWER = answer('"ok"', "content-type: application/json\r\nx-service-sdk: bare\r\nx-service-req-version: 2\r\n");
const CONTROL = /^GET \/control(?:\?ended=(\d+))? /;

let ended = 0;
/** Those who want to know when so many have ended. */
let waiting: { until: number; socket: Socket }[] = [];

const server = createServer({ noDelay: true }, (socket) => {
  let received = "";
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    while (received !== "") {
      const length = requestLength(received);
      if (received.length < length) return;
      handle(received, socket);
      received = received.slice(length);
    }
  });
});
server.listen(0, "127.0.0.1", async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await register(url);
  console.log(`listening on ${url}`);
});

/** Infinite until the whole head is there. */
function requestLength(received: string): number {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return Number.POSITIVE_INFINITY;
  const length = /\r\ncontent-length: (\d+)/i.exec(received)?.[1];
  return headEnd + 4 + Number(length ?? 0);
}

function handle(request: string, socket: Socket): void {
  const control = request.startsWith("GET ") && CONTROL.exec(request);
  if (!control) {
    ended++;
    socket.write(ANSWER);
  } else waiting.push({ until: Number(control[1] ?? 0), socket });
  if (waiting.length === 0) return;
  for (const { until, socket } of waiting) if (until <= ended) socket.write(answer(JSON.stringify({ ended, samples: [] })));
  waiting = waiting.filter(({ until }) => until > ended);
}

function answer(body: string, headers = ""): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
}

/** As SDKs do. */
async function register(url: string): Promise<void> {
  const step = { id: "step", name: "step", runtime: { type: "http", url: `${url}/api?fnId=bare-plain&stepId=step` } };
  const functions = [{ id: "bare-plain", name: "plain", triggers: [{ event: "bench/bare" }], steps: { step } }];
  const response = await fetch(`${baseUrl}/fn/register`, {
    method: "POST",
    headers: { authorization: `Bearer ${signingKey}`, "content-type": "application/json", "x-service-sdk": "bare:v0.0.0" },
    body: JSON.stringify({ url: `${url}/api`, deployType: "ping", framework: "bare", appName: "bare", sdk: "bare", v: "0.1", functions }),
  });
  if (!response.ok) throw new Error(`the app did not register: ${await response.text()}`);
}
