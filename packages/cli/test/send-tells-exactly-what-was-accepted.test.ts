import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { test as testOnce } from "node:test";
import { test } from "../../server/test/support/both-stores.ts";
import { freePort } from "../../server/test/support/free-port.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { BARE_ENVIRONMENT, INLET_BIN, INLET_NODE } from "../../server/test/support/process.ts";
import { until } from "../../server/test/support/runs.ts";
import { createProgressBar } from "../src/command-line/progress-bar.ts";
import { printable } from "../src/command-line/terminal-text.ts";
import { progressText } from "../src/send/progress-text.ts";
import { unsteadyProxy } from "./support/unsteady-proxy.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

const line = (n: number) => JSON.stringify({ name: "send/test", data: { n } });
const lines = (count: number, from = 0) => Array.from({ length: count }, (_, i) => line(from + i)).join("\n");

test("one event from flags, its numbers as written", async (t) => {
  const { rest, variables, url } = await startServer(t);
  const place = workingFolder(t, variables);
  const flags = ["--name", "shop/order", "--data", '{"n":12345678901234567890.10}', "--id", "o-1", "--ts", "2026-01-02T03:04:05Z"];
  const sent = await place.inlet(["send", ...flags]);
  assert.deepEqual([sent.code, sent.stderr], [0, ""]);
  const [, id] = /^1 event accepted\.\n(\S{26})$/m.exec(sent.stdout) ?? [];
  const event = await rest("GET", `/events/${id}`);
  assert.deepEqual([event.name, event.dedupId, event.ts], ["shop/order", "o-1", Date.UTC(2026, 0, 2, 3, 4, 5)]);
  const raw = await fetch(`${url}/v1/events/${id}`, { headers: { authorization: `Bearer ${variables.INLET_API_KEY}` } });
  assert.match(await raw.text(), /"n":12345678901234567890\.10/);
});

test("an event, an array and lines, from files and standard input, in requests of the size asked for", async (t) => {
  const { rest, variables } = await startServer(t);
  const place = workingFolder(t, variables);
  place.write("one.json", `{\n  "name": "send/test",\n  "data": {"n": 0}\n}\n`);
  place.write("many.json", `[${line(1)},\n${line(2)}]`);
  place.write("many.ndjson", lines(5, 3));
  const files = await place.inlet(["send", "one.json", "many.json", "many.ndjson", "--batch", "3", "--json"]);
  assert.equal(files.code, 0, files.stderr);
  const { accepted, requests, ids } = JSON.parse(files.stdout);
  assert.deepEqual([accepted, requests, ids.length], [8, 3, 8]);
  assert.equal((await place.inlet(["send"], lines(2, 8))).code, 0, "standard input, unasked");
  assert.equal((await place.inlet(["send", "-"], lines(1, 10))).code, 0);
  const stored = (await rest("GET", "/events?limit=100")).map(({ data }: { data: { n: number } }) => data.n);
  assert.deepEqual(stored.toReversed(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "in order");
});

test("it says how many of the events were duplicates", async (t) => {
  const { variables } = await startServer(t);
  const place = workingFolder(t, variables);
  const known = JSON.stringify({ name: "send/test", data: {}, id: "known" });
  assert.match((await place.inlet(["send"], known)).stdout, /^1 event accepted\.$/m);
  assert.match((await place.inlet(["send"], `${known}\n${line(1)}`)).stdout, /^2 events accepted, 1 of them a duplicate\.$/m);
  const { accepted, duplicates } = JSON.parse((await place.inlet(["send", "--json"], `${known}\n${known}`)).stdout);
  assert.deepEqual([accepted, duplicates], [2, 2]);
});

test("long input is cut by bytes as well, also where the environment takes less", async (t) => {
  const { rest, variables } = await startServer(t);
  const place = workingFolder(t, variables);
  const big = Array.from({ length: 30 }, (_, n) => JSON.stringify({ name: "send/big", data: { n, text: "x".repeat(50_000) } })).join("\n");
  const first = JSON.parse((await place.inlet(["send", "--json"], big)).stdout);
  assert.deepEqual([first.accepted, first.requests], [30, 3]);
  await rest("PUT", "/environments/production", { bodyLimitBytes: 120_000 });
  const second = JSON.parse((await place.inlet(["send", "--json"], big)).stdout);
  assert.equal(second.accepted, 30);
  assert.equal(new Set([...first.ids, ...second.ids]).size, 60);
  const tooBig = await place.inlet(["send"], JSON.stringify({ name: "send/big", data: { text: "x".repeat(200_000) } }));
  assert.equal(tooBig.code, 1);
  assert.match(tooBig.stderr, /^error: standard input:1: .*\(body_too_large\)/);
});

test("requests that are turned away, or whose responses are lost, store nothing twice", async (t) => {
  const { rest, variables, url } = await startServer(t);
  const proxy = await unsteadyProxy(t, url, ["turned away", "answer lost", "never arrives", "none", "answer lost"]);
  const place = workingFolder(t, { ...variables, INLET_BASE_URL: proxy.url });
  const sent = await place.inlet(["send", "--batch", "10", "--json"], lines(30));
  assert.equal(sent.code, 0, sent.stderr);
  const stored = await rest("GET", "/events?limit=100");
  assert.deepEqual([stored.length, proxy.seen()], [30, 7]);
  assert.deepEqual(new Set(JSON.parse(sent.stdout).ids), new Set(stored.map(({ id }: { id: string }) => id)));
  assert.match(sent.stderr, /Full\. \(overloaded\) Retrying in 0 s\./);
});

test("a bad event stops it with its place; what was accepted before is told, its own request is not sent", async (t) => {
  const { rest, variables } = await startServer(t);
  const place = workingFolder(t, variables);
  place.write("events.ndjson", `${lines(5)}\n{"name":"","data":[]}\n${lines(5, 6)}`);
  const failed = await place.inlet(["send", "events.ndjson", "--batch", "4"]);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /^error: events\.ndjson:6: name must not be empty, data must be an object\.$/m);
  assert.match(failed.stdout, /^4 events accepted: \S{26} … \S{26}\.$/m);
  assert.equal((await rest("GET", "/events")).length, 4);
  const { code, stdout } = await place.inlet(["send", "--json"], `${line(1)}\n{"name":`);
  assert.equal(code, 1);
  assert.deepEqual(JSON.parse(stdout).failure.code, "input_invalid");
  assert.equal(JSON.parse(stdout).accepted, 0);
  place.write("good.ndjson", lines(2, 20));
  const folder = await place.inlet(["send", "good.ndjson", ".", "--batch", "1", "--json"]);
  assert.equal(folder.code, 1);
  const { accepted, failure } = JSON.parse(folder.stdout);
  assert.deepEqual(
    [accepted, failure],
    [1, { error: ". cannot be read: EISDIR: illegal operation on a directory, read.", code: "input_invalid" }],
  );
});

test("when no response comes back at all, it says that it cannot know", async (t) => {
  const { variables, url, rest } = await startServer(t);
  const proxy = await unsteadyProxy(t, url, ["none", "answer lost"]);
  const place = workingFolder(t, { ...variables, INLET_BASE_URL: proxy.url });
  place.write("events.ndjson", lines(2));
  proxy.next.push(...Array.from({ length: 20 }, () => "never arrives" as const));
  const sending = place.start("send", "events.ndjson", "--batch", "1", "--json");
  await sending.printed(/Retrying in/);
  await sending.end("SIGINT");
  const { accepted, failure } = JSON.parse(sending.stdout());
  assert.deepEqual([accepted, failure.code], [1, "answer_lost"]);
  assert.match(failure.error, /these events may have been stored/);
  assert.equal((await rest("GET", "/events")).length, 2, "it was, in fact");
});

testOnce("a signal ends the wait for standard input, and what was accepted is told", async (t) => {
  const { variables } = await startServer(t);
  const child = spawn(INLET_NODE, [INLET_BIN, "send", "-", "--batch", "1"], { env: { ...BARE_ENVIRONMENT, ...variables } });
  onEnd(t, () => void child.kill("SIGKILL"));
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  // An event is sent once the next one begins. The input stays open.
  child.stdin.write(`${lines(2)}\n`);
  const place = workingFolder(t, variables);
  const isAccepted = async () => JSON.parse((await place.inlet(["events", "list", "--json"])).stdout).data.length > 0 || undefined;
  await until("the first event", isAccepted);
  child.kill("SIGTERM");
  const [code, signal] = await once(child, "exit");
  assert.deepEqual([code, signal, await stderr], [1, null, "error: Interrupted.\n"]);
  assert.match(await stdout, /^1 event accepted: \S{26} … \S{26}\.\n$/);
});

testOnce("what cannot be sent is said at once, with what to do", async (t) => {
  const { variables, url } = await startServer(t);
  const place = workingFolder(t, variables);
  const cases: [string[], number, RegExp][] = [
    [["--name", "a", "--data", "{"], 2, /--data is not a JSON object/],
    [["--name", "a", "file.json"], 2, /either --name or files/],
    [["--data", "{}"], 2, /--data, --id and --ts require --name/],
    [["missing.json"], 1, /^error: missing\.json cannot be read: ENOENT: no such file or directory/],
    [["--name", "inngest/x"], 1, /reserved/],
    [["--name", "a", "--key", "evk_wrong"], 4, /^error: This event key is unknown.*event_key_invalid[\s\S]*--key or SERVICE_EVENT_KEY/],
    [["--name", "a", "--env", "other"], 4, /^error: (?!the event: ).*environment_forbidden/],
    [["--name", "a", "--batch", "0"], 2, /--batch must be a whole number/],
    [["-"], 1, /The input contains no events/],
    [
      ["--name", "a", "--url", "http://127.0.0.1:6000"],
      3,
      /^error: The service at .*HTTP clients refuse to connect to this port; use another one/,
    ],
    [["--name", "a", "--url", url.replace("http:", "https:")], 3, /cannot be reached: it does not speak HTTPS/],
    [["--name", "a", "--url", "http://user:secret@127.0.0.1"], 2, /must not contain a user name or password/],
  ];
  for (const [argv, code, message] of cases) {
    const ended = await place.inlet(["send", ...argv]);
    assert.equal(ended.code, code, `${argv.join(" ")}: ${ended.stderr}`);
    assert.match(ended.stderr, message, argv.join(" "));
    assert.doesNotMatch(ended.stderr, /Retrying|may have been stored|user:secret/, argv.join(" "));
  }
  const platform = await workingFolder(t, { ...variables, SERVICE_ENV: "prod" }).inlet(["send", "--name", "a"]);
  assert.deepEqual([platform.code, /SERVICE_ENV is "prod", which is no environment of this key/.test(platform.stderr)], [0, true]);
  const nobody = await place.inlet(["send", "--name", "a", "--url", `http://127.0.0.1:${await freePort()}`]);
  const retries = nobody.stderr.match(/Retrying in/g)?.length ?? 0;
  assert.equal(nobody.code, 3, nobody.stderr);
  assert.ok(retries > 0 && retries <= 6, `within five seconds there are few tries: ${nobody.stderr}`);
  const keyless = workingFolder(t, { INLET_BASE_URL: "https://inlet.example.com" });
  const missing = await keyless.inlet(["send", "--name", "a"]);
  assert.equal(missing.code, 4);
  assert.match(missing.stderr, /SERVICE_EVENT_KEY/);
  const local = workingFolder(t, { INLET_BASE_URL: url });
  const none = await local.inlet(["send", "--name", "a", "--json"]);
  assert.deepEqual([none.code, JSON.parse(none.stdout).failure.code], [4, "event_key_missing"], "a service on this machine");
  const sentence = /^error: No event key is set, and this service requires one\. Set it with --key or SERVICE_EVENT_KEY/;
  assert.match((await local.inlet(["send", "--name", "a"])).stderr, sentence);
});

testOnce("a bar for long input: on a terminal, after a moment, and gone at the end", () => {
  let time = 0;
  const written: string[] = [];
  const stream = (isTTY: boolean) => ({ isTTY, columns: 80, write: (text: string) => written.push(printable(text)) > 0 });
  const progress = { bytesRead: 50, bytesTotal: 200, accepted: 1_000 };
  const bar = createProgressBar(stream(true), () => time);
  bar.show((elapsedMs) => progressText(progress, elapsedMs));
  bar.clear();
  assert.deepEqual(written, [], "not yet");
  time = 1_000;
  bar.show((elapsedMs) => progressText(progress, elapsedMs));
  bar.clear();
  assert.deepEqual(written, ["\x1b[G\x1b[K[######------------------] 25 %  1,000 events accepted, 1,000/s", "\x1b[G\x1b[K"]);
  const silent = createProgressBar(stream(false), () => time);
  time = 9_000;
  silent.show((elapsedMs) => progressText(progress, elapsedMs));
  assert.equal(written.length, 2);
  assert.equal(progressText({ ...progress, bytesTotal: null }, 500), "1,000 events accepted, 2,000/s");
});
