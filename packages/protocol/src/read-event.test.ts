import assert from "node:assert/strict";
import { test } from "node:test";
import { eventJson } from "./event-json.ts";
import { jsonMembers } from "./json-scan.ts";
import { readEvent } from "./read-event.ts";

/** The event, or what is said to be wrong with it. */
function read(text: string) {
  const faults: [string, string][] = [];
  const event = readEvent(text, text.startsWith("{") ? jsonMembers(text) : null, (field, message) => faults.push([field, message]));
  assert.equal(event === null, faults.length > 0);
  return event ?? faults;
}

const readWith = (fields: string) => read(`{"name":"a/b","data":{}${fields}}`);
const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;

test("an event is read in the sender's own words", () => {
  assert.deepEqual(read('{"name":"a/b","data":{"n":1.0, "n":12345678901234567890}}'), {
    name: "a/b",
    data: '{"n":1.0, "n":12345678901234567890}',
    extras: null,
    dedupId: null,
    ts: null,
  });
  assert.deepEqual(read('{ "v" : "2" , "id":"o\\u002d1","user":{"x":1e400},"ts":5,"name":"caf\\u00e9","data": { } }'), {
    name: "café",
    data: "{ }",
    extras: '{"v":"2","user":{"x":1e400}}',
    dedupId: "o-1",
    ts: 5,
  });
});

test("of several fields with one name the last counts", () => {
  const text = '{"name":"first","name":"a/b","data":{"n":1},"data":{"n":2},"id":"1","id":"2","ts":1,"ts":2,"v":1,"x":0,"v":2}';
  assert.deepEqual(read(text), { name: "a/b", data: '{"n":2}', extras: '{"v":2,"x":0}', dedupId: "2", ts: 2 });
});

test("null is no id and no time", () => {
  assert.deepEqual(readWith(',"id":null,"ts":null'), { name: "a/b", data: "{}", extras: null, dedupId: null, ts: null });
});

test("what is no object is no event", () => {
  assert.deepEqual(read("[]"), [["event", "must be an object"]]);
});

test("name and data are required, and data is an object of bounded depth", () => {
  assert.deepEqual(read("{}"), [
    ["name", "is required"],
    ["data", "is required"],
  ]);
  for (const data of ["[]", "null", '"{}"', "1", "true"])
    assert.deepEqual(read(`{"name":"a/b","data":${data}}`), [["data", "must be an object"]], data);
  assert.ok(!Array.isArray(read(`{"name":"a/b","data":${nested(512)}}`)));
  assert.deepEqual(read(`{"name":"a/b","data":${nested(513)}}`), [["data", "must nest at most 512 levels deep, this nests 513"]]);
});

test("an id is a text that is not empty and not too long", () => {
  assert.equal((readWith(`,"id":"${"x".repeat(512)}"`) as { dedupId: string }).dedupId.length, 512);
  assert.deepEqual(readWith(`,"id":"${"x".repeat(513)}"`), [["id", "must be at most 512 characters, this one has 513"]]);
  assert.deepEqual(readWith(',"id":""'), [["id", "must not be empty"]]);
  for (const id of ["5", "{}", "false"]) assert.deepEqual(readWith(`,"id":${id}`), [["id", "must be a string"]], id);
});

test("a time is a whole number of milliseconds that a Date can hold", () => {
  for (const ts of [0, 1, 8.64e15]) assert.equal((readWith(`,"ts":${ts}`) as { ts: number }).ts, ts);
  for (const ts of ["1.5", '"5"', "true", "1e400", "{}"])
    assert.deepEqual(readWith(`,"ts":${ts}`), [["ts", "must be a whole number of milliseconds since 1970"]], ts);
  for (const ts of ["-1", "8640000000000001"])
    assert.deepEqual(readWith(`,"ts":${ts}`), [["ts", "must be from 0 to 8640000000000000"]], ts);
});

test("every fault is told at once", () => {
  assert.deepEqual(
    (read('{"name":"","data":1,"id":2,"ts":"x"}') as [string, string][]).map(([field]) => field),
    ["name", "data", "id", "ts"],
  );
});

test("a delivered event has its own id or the sender's, and the service's fields win over the sender's", () => {
  const event = { id: "01E", name: 'a"b', ts: 5, dedupId: null, data: '{"n":1.0}', extras: null };
  assert.equal(eventJson(event), '{"data":{"n":1.0},"id":"01E","name":"a\\"b","ts":5}');
  assert.equal(eventJson({ ...event, dedupId: "o-1" }), '{"data":{"n":1.0},"id":"o-1","name":"a\\"b","ts":5}');
  assert.equal(eventJson({ ...event, extras: "{}" }), eventJson(event));
  assert.equal(eventJson({ ...event, extras: '{"v":{"x":"}"} }' }), '{"v":{"x":"}"} ,"data":{"n":1.0},"id":"01E","name":"a\\"b","ts":5}');
});

test("data that is absent or null is an empty object where the sender is an SDK, and only there", () => {
  for (const text of ['{"name":"a/b"}', '{"name":"a/b","data":null}']) {
    const event = readEvent(text, jsonMembers(text), () => assert.fail("no fault"), { dataOptional: true });
    assert.equal(event?.data, "{}");
    assert.ok(Array.isArray(read(text)), "a plain sender is told");
  }
  const faults: string[] = [];
  readEvent('{"name":"a/b","data":[]}', jsonMembers('{"name":"a/b","data":[]}'), (field) => faults.push(field), { dataOptional: true });
  assert.deepEqual(faults, ["data"]);
});
