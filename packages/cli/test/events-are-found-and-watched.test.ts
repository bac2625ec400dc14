import assert from "node:assert/strict";
import { type TestContext, test as testOnce } from "node:test";
import { test } from "../../server/test/support/both-stores.ts";
import { unsteadyProxy } from "./support/unsteady-proxy.ts";
import { EVENT_KEY, startServer, workingFolder } from "./support/working-folder.ts";

const EXACT = '{"n":12345678901234567890.10, "text":"\\u0041"}';

async function setUp(t: TestContext) {
  const server = await startServer(t);
  const place = workingFolder(t, server.variables);
  const send = async (body: string) => {
    const response = await fetch(`${server.url}/e/${EVENT_KEY}`, { method: "POST", body });
    const { ids } = (await response.json()) as { ids: string[] };
    return ids;
  };
  return { ...server, place, send };
}

test("list: a table for people, the sender's own text for scripts, filters and pages", async (t) => {
  const { place, send } = await setUp(t);
  const [id] = await send(`{"name":"shop/order","id":"o-1","data":${EXACT}}`);
  await send(JSON.stringify(Array.from({ length: 5 }, (_, n) => ({ name: "blog/post", data: { n } }))));
  const table = await place.inlet(["events", "list", "--name", "shop/*", "--from", "1h"]);
  assert.equal(table.code, 0, table.stderr);
  assert.match(table.stdout, /^RECEIVED +ID +NAME +SOURCE +DATA\n/);
  assert.ok(table.stdout.includes(`${id}  shop/order`) && table.stdout.includes(EXACT), table.stdout);
  assert.ok(!table.stdout.includes("\x1b["), "no colours where there is no terminal");
  const json = await place.inlet(["events", "list", "--id", "o-1", "--json"]);
  assert.ok(json.stdout.includes(`"data":${EXACT}`), json.stdout);
  const first = JSON.parse((await place.inlet(["events", "list", "--limit", "4", "--json"])).stdout);
  const rest = JSON.parse((await place.inlet(["events", "list", "--cursor", first.page.next, "--json"])).stdout);
  assert.deepEqual([first.data.length, rest.data.length, rest.page.next], [4, 2, null]);
  assert.match((await place.inlet(["events", "list", "--limit", "1"])).stdout, /More results: --cursor \S+$/m);
  assert.equal((await place.inlet(["events", "list", "--q", "nowhere"])).stdout, "No events.\n");
  assert.equal((await place.inlet(["events", "list", "--from", "yesterday"])).code, 2);
  assert.equal((await place.inlet(["events", "list", "--from", "2d", "--to", "1d"])).stdout, "No events.\n");
});

test("get: the payload as it was sent", async (t) => {
  const { place, send } = await setUp(t);
  const [id = ""] = await send(`{"name":"shop/order","id":"o-1","data":${EXACT}}`);
  const shown = await place.inlet(["events", "get", id]);
  assert.match(shown.stdout, /^name +shop\/order$/m);
  assert.match(shown.stdout, /^dedup id +o-1$/m);
  assert.ok(shown.stdout.includes(EXACT));
  assert.ok((await place.inlet(["events", "get", id, "--json"])).stdout.includes(`"data":${EXACT}`));
  const missing = await place.inlet(["events", "get", "01JCQ7V8Z0ABCDEFGHJKMNPQRS", "--json"]);
  assert.deepEqual([missing.code, JSON.parse(missing.stdout).code], [1, "event_not_found"]);
  assert.equal((await place.inlet(["events", "get"])).code, 2);
});

test("tail: every event once, across a cut, in lines for people and for scripts", async (t) => {
  const { send, url, variables } = await setUp(t);
  const proxy = await unsteadyProxy(t, url);
  const place = workingFolder(t, { ...variables, INLET_BASE_URL: proxy.url });
  await send('{"name":"shop/before","data":{}}');
  const tail = place.start("events", "tail", "--name", "shop/*", "--json");
  const people = place.start("events", "tail", "--since", "1h");
  await tail.printed(/Following events/);
  await people.printed(/shop\/before/);
  proxy.cut();
  await send(`[{"name":"shop/order","data":${EXACT}},{"name":"blog/post","data":{\n"a":1}}]`);
  await tail.printed(/shop\/order/);
  await people.printed(/^\d\d:\d\d:\d\d\.\d{3} {2}\S{26} {2}blog\/post {2}\{ "a":1\}$/m);
  await tail.printed(/Disconnected: .*\. Reconnecting\./);
  await send('{"name":"shop/last","data":{}}');
  await tail.printed(/shop\/last/);
  assert.deepEqual([await tail.end("SIGINT"), await people.end("SIGTERM")], [0, 0]);
  const names = tail
    .stdout()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).name);
  assert.deepEqual(names, ["shop/order", "shop/last"]);
  assert.ok(tail.stdout().includes(EXACT));
});

testOnce("tail of a service that is not there, or does not let us in, ends at once", async (t) => {
  const { place } = await setUp(t);
  const gone = await place.inlet(["events", "tail", "--url", "http://127.0.0.1:1"]);
  assert.deepEqual([gone.code, /cannot be reached: .*--url/.test(gone.stderr)], [3, true]);
  const wrong = await place.inlet(["events", "tail", "--api-key", "ak_wrong"]);
  assert.deepEqual([wrong.code, /api_key_invalid/.test(wrong.stderr)], [4, true]);
});
