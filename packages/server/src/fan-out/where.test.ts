import assert from "node:assert/strict";
import { test } from "node:test";
import { eventJson } from "@inlet/protocol";
import { SAMPLE_EVENT } from "../../test/support/sample-state.ts";
import { compileExpression, EXPRESSION_LENGTH_MAX, isFault } from "./expressions.ts";
import { firingTrigger, TriggerIndex } from "./triggers.ts";
import { eventValue } from "./waits.ts";
import { checkWhere, compileWhere } from "./where.ts";

const DATA = {
  amount: 150,
  text: "card",
  nothing: null,
  yes: true,
  list: [1, 2],
  map: { a: 1 },
  rows: [{ n: 1 }, { m: 2 }],
  many: Array.from({ length: 2_000 }, (_, i) => i),
};
const EVENT = { ...SAMPLE_EVENT, name: "shop/order", ts: 1_000, data: JSON.stringify(DATA) };

function assertMatches(expected: boolean, texts: readonly string[]): void {
  for (const text of texts) assert.equal(compileWhere(text)(EVENT), expected, text);
}

test("fields of the event are variables of their own", () => {
  assertMatches(true, [
    "data.amount == 150",
    "name == 'shop/order'",
    "ts == 1000.0",
    "event.data.amount == data.amount",
    "data.list.exists(data, data == 2)",
    "data.yes",
    "!has(data.missing)",
    "data.text.startsWith('ca')",
  ]);
  assertMatches(false, ["data.amount == 151", "name == 'shop'", "v == '1'", "user.id == 'u'"]);
});

test("a missing field equals null and nothing else, as in a trigger", () => {
  assertMatches(true, [
    "data.x == null",
    "data.x != 1",
    "!(data.x == 1)",
    "v == null",
    "v != 'x'",
    "user == null",
    "data.nothing == null",
    "data.nothing != 1",
    "data.amount != 151",
    "data.rows.exists(row, row.m == 2)",
    "1 in data.list",
    "'a' in data.map",
  ]);
  assertMatches(false, ["data.x == 1", "data.x == data.y", "!(data.x != 1)", "data.nothing.x == 1", "data.map.x == 1"]);
});

test("a number beyond double precision is found by its own digits", () => {
  const matches = (text: string) => compileWhere(text)({ ...EVENT, data: '{"id":9007199254740993}' });
  const found = [
    "data.id == 9007199254740993",
    "9007199254740993 == data.id",
    "data.id >= 9007199254740993",
    "data.id in [9007199254740993]",
  ];
  for (const text of found) assert.ok(matches(text), text);
  for (const text of ["data.id != 9007199254740993", "9007199254740993 == 9007199254740992"]) assert.ok(!matches(text), text);
});

test("an expression without a value does not match, and neither does its opposite", () => {
  const without = [
    "data.x < 1",
    "data.x >= 1",
    "data.x in [1]",
    "1 in data.x",
    "1 in data.text",
    "data.text < 1",
    "data.list[7] == 1",
    "v > 1",
  ];
  assertMatches(false, without);
  assertMatches(
    false,
    without.map((text) => `!(${text})`),
  );
  assertMatches(true, ["data.x > 1 || data.amount > 100"]);
});

test("an expression selects the events that a trigger with it would start", () => {
  const operands = [
    "data.x",
    "data.amount",
    "data.text",
    "data.nothing",
    "data.nothing.x",
    "v",
    "user",
    "name",
    "ts",
    "1",
    "null",
    "'card'",
  ];
  const event = JSON.parse(eventJson(EVENT));
  for (const left of operands) {
    for (const right of operands) {
      for (const operator of ["==", "!=", "<", ">=", "in"]) {
        const texts = [`${left} ${operator} ${right}`, `!(${left} ${operator} ${right})`, `${left} ${operator} ${right} || ts == 1000.0`];
        for (const text of texts) {
          const trigger = compileExpression(text.replaceAll(/\b(data|v|user|name|ts)\b/g, "event.$1"));
          assert.ok(!isFault(trigger), text);
          assert.equal(compileWhere(text)(EVENT), trigger.matches({ event }) === true, text);
        }
      }
    }
  }
});

test("a filter and the `if` of a trigger mean the same by the same text", () => {
  const texts = [
    "event.data.amount > 100 && event.data.text.startsWith('ca')",
    "event.data.list.exists(n, n == 2)",
    "event.data.rows.all(row, has(row.n) || row.m == 2)",
    "event.data.many.filter(n, n % 2 == 0).size() == 1000",
    "event.data.text.matches('^c.*d$') ? event.data.yes : false",
    "timestamp(event.ts) < now()",
    "duration('1h') > duration('59m')",
    "event.data.text in ['cash', 'card']",
    "event.name + '!' == 'shop/order!'",
    "event.data.amount / 0 > 1.0",
    "event.data.text > 1",
    "event.user.id == 'u'",
    "event.data['map'].a == 1",
    "event.v == null",
  ];
  const outcomes = texts.map((expression) => {
    const [candidate] = new TriggerIndex([{ functionNo: 1, triggers: [{ event: EVENT.name, expression }] }]).match(EVENT.name);
    assert.ok(candidate, expression);
    const fires = firingTrigger(candidate, eventValue(EVENT)).trigger !== null;
    assert.equal(checkWhere(expression) === null && compileWhere(expression)(EVENT), fires, expression);
    return fires;
  });
  assert.ok(outcomes.includes(true) && outcomes.includes(false));
});

test("what is no comparison, and has no value or no boolean, does not match", () => {
  assertMatches(false, ["data.x", "!data.x", "data.amount", "data.x.startsWith('a')", "data.text", "data.x + 1 == 2 && data.yes"]);
});

test("too much work is no match, whatever is around it", () => {
  const tooMuch = "data.many.exists(a, data.many.exists(b, a + b == -1))";
  assertMatches(false, [tooMuch, `${tooMuch} == false`, `!(${tooMuch} == true)`, `${tooMuch} || data.yes`]);
});

test("data nested deeper than the stack does not match", () => {
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const event = { ...EVENT, data: `{"a":${deep},"b":${deep}}` };
  assert.equal(compileWhere("data.a == data.b")(event), false);
});

test("what is no expression is told with its position", () => {
  const roots = "there are event, data, user, name, ts, v";
  const cases: [string, string, number][] = [
    ["amount > 1", `is not an expression: unknown variable amount: ${roots}`, 1],
    ["data.amount > 1 && async.data.x == 1", `is not an expression: unknown variable async: ${roots}`, 20],
    ["data.x.later()", "is not an expression: unknown function later", 8],
    ["has(data)", "is not an expression: has() needs a field, such as has(event.data.user)", 1],
    ["data.x ==", "is not an expression: Unexpected end of the expression", 10],
  ];
  for (const [text, message, position] of cases) assert.deepEqual(checkWhere(text), { message, position }, text);
  assert.throws(() => compileWhere("amount > 1"));
  assert.equal(checkWhere("data.amount > 1"), null);
  const longest = "data.amount > 1".padEnd(EXPRESSION_LENGTH_MAX);
  assert.equal(checkWhere(longest), null);
  assert.deepEqual(checkWhere(`${longest} `), { message: "is longer than 1000 characters", position: 1_001 });
});
