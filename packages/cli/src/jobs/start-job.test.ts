import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable, Writable } from "node:stream";
import { test } from "node:test";
import type { Io } from "../command-line/command-row.ts";
import { startJob } from "./start-job.ts";

test("the end of the input at the question whether to start a job means no", async (t) => {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked.push(body);
    response.end('{"data": {"total": 2, "samples": []}}');
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const connection = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: null, env: null };
  const stdin = Object.assign(Readable.from([]), { isTTY: true });
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const io = { out: nowhere, err: nowhere, stdin, variables: {}, interrupted: () => new AbortController().signal } as unknown as Io;
  const job = { kind: "runs.cancel", filter: { status: "failed" }, rate: null, yes: false, dryRun: false, question: () => "Cancel them?" };
  const { exitCode, text } = await startJob(connection, job, io);
  assert.deepEqual([exitCode, text], [1, "Nothing was done."]);
  assert.deepEqual(
    asked.map((body) => JSON.parse(body).dryRun),
    [true],
  );
});
