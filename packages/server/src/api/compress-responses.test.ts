import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import Fastify from "fastify";
import { registerCompression } from "./compress-responses.ts";

const LONG = JSON.stringify({ data: Array.from({ length: 200 }, (_, n) => ({ n, text: "the same é" })) });

async function get(path: string, encodings?: string, method: "GET" | "POST" = "GET") {
  const app = Fastify();
  registerCompression(app);
  app.get("/long", async () => JSON.parse(LONG));
  app.post("/long", async () => JSON.parse(LONG));
  app.get("/short", async () => ({ data: [] }));
  app.get("/stream", async (_request, reply) => reply.type("text/event-stream").send(Readable.from([LONG])));
  const { headers, rawPayload } = await app.inject({ method, url: path, headers: encodings ? { "accept-encoding": encodings } : {} });
  await app.close();
  return { encoding: headers["content-encoding"], vary: headers.vary, length: Number(headers["content-length"]), bytes: rawPayload };
}

test("a long response comes in the best encoding that the client accepts", async () => {
  const brotli = await get("/long", "gzip, deflate, br");
  assert.deepEqual([brotli.encoding, brotli.vary, brotli.length], ["br", "accept-encoding", brotli.bytes.length]);
  assert.equal(brotliDecompressSync(brotli.bytes).toString(), LONG);
  assert.ok(brotli.bytes.length < LONG.length / 5, `${brotli.bytes.length} bytes`);
  const gzip = await get("/long", "gzip;q=0.5, br;q=0");
  assert.equal(gzip.encoding, "gzip");
  assert.equal(gunzipSync(gzip.bytes).toString(), LONG);
});

test("short responses, those to a POST, streams, and those for other clients stay as they are", async () => {
  const plain = await get("/long");
  assert.deepEqual([plain.encoding, plain.vary, plain.bytes.toString()], [undefined, "accept-encoding", LONG]);
  for (const refusing of ["identity", "*;q=0", "zstd"]) assert.equal((await get("/long", refusing)).encoding, undefined);
  assert.equal((await get("/short", "br")).encoding, undefined);
  assert.equal((await get("/stream", "br")).encoding, undefined);
  assert.equal((await get("/long", "br", "POST")).encoding, undefined, "it may contain a secret");
});
