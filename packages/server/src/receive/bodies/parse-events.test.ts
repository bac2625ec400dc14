import assert from "node:assert/strict";
import { test } from "node:test";
import { type Fault, Refusal } from "@inlet/protocol";
import { parseEvents } from "./parse-events.ts";

const parse = (body: string | Buffer) => parseEvents(Buffer.from(body));

function refusal(body: string | Buffer): Refusal {
  const parsed = parse(body);
  assert.ok(parsed instanceof Refusal);
  return parsed;
}

function names(body: string | Buffer): string[] {
  const parsed = parse(body);
  assert.ok(Array.isArray(parsed), `${body}`);
  return parsed.map(({ name }) => name);
}

const event = (name: string) => `{"name":"${name}","data":{}}`;

test("a body is one event or a list of them, in order", () => {
  assert.deepEqual(names(event("a")), ["a"]);
  assert.deepEqual(names(` [${event("a")} , ${event("b")}]\n`), ["a", "b"]);
  assert.deepEqual(names(`\uFEFF${event("a")}`), ["a"], "a byte order mark may stand before it");
  assert.deepEqual(names(event("zażółć 😀")), ["zażółć 😀"], "characters of more than one byte");
});

test("what is no text, no JSON, or neither an object nor a list is told apart", () => {
  assert.match(refusal(Buffer.from([0x7b, 0xff, 0x7d])).message, /^The body is not valid UTF-8\.$/);
  for (const body of ["", " \n\t", "\uFEFF"]) {
    assert.deepEqual([refusal(body).code, refusal(body).message], ["events_missing", "The body is empty."], JSON.stringify(body));
  }
  for (const body of ['{"name":', "nothing", "[1,]"]) {
    assert.equal(refusal(body).code, "body_invalid");
    assert.match(refusal(body).message, /^The body is not JSON: ./);
  }
  for (const body of ["5", '"text"', "null", "true"])
    assert.deepEqual(
      [refusal(body).code, refusal(body).message],
      ["body_invalid", "The body must be an event object or an array of event objects."],
    );
});

test("a list holds at least one event and at most five thousand", () => {
  assert.deepEqual([refusal("[]").code, refusal("[]").message], ["events_missing", "The array contains no events."]);
  const list = (count: number) => `[${Array.from({ length: count }, (_, n) => event(`e${n}`)).join(",")}]`;
  assert.equal(names(list(5_000)).length, 5_000);
  const { code, message } = refusal(list(5_001));
  assert.deepEqual([code, message], ["events_too_many", "A request may contain at most 5000 events; this one contains 5001."]);
});

test("one fault refuses the whole request, and every fault is named with the event it is of", () => {
  const one = refusal(`[${event("a")},{"name":"b"}]`);
  assert.deepEqual([one.code, one.message], ["event_invalid", "events[1].data is required. Nothing was stored."]);
  assert.deepEqual(one.details, [{ index: 1, field: "data", message: "is required" }]);
  const many = refusal(`[5,${event("a")},{}]`);
  assert.match(many.message, /^events\[0\] must be an object \(and 2 more\)\. Nothing was stored\.$/);
  assert.deepEqual(
    many.details?.map((fault) => [(fault as Fault).index, (fault as Fault).field]),
    [
      [0, "event"],
      [2, "name"],
      [2, "data"],
    ],
  );
});

test("the fault of a single event is said of the event itself, with index 0", () => {
  const single = refusal('{"name":"","data":{}}');
  assert.equal(single.message, "name must not be empty. Nothing was stored.");
  assert.deepEqual(single.details, [{ index: 0, field: "name", message: "must not be empty" }]);
  assert.equal(refusal("{}").message, "name is required (and 1 more). Nothing was stored.");
  assert.equal(refusal('[{"name":"","data":{}}]').message, "events[0].name must not be empty. Nothing was stored.");
});

test("of very many faults a hundred are named", () => {
  const { details, message } = refusal(`[${Array.from({ length: 101 }, () => "1").join(",")}]`);
  assert.equal(details?.length, 100);
  assert.match(message, /and 100 more/);
});
