import assert from "node:assert/strict";
import { test } from "node:test";
import { compileExpression, EXPRESSION_LENGTH_MAX, type Expression, isFault } from "./expressions.ts";

const EVENT = {
  name: "shop/order.created",
  id: "e1",
  ts: 1_767_225_600_000,
  v: "1",
  user: {},
  data: {
    amount: 150,
    n: 1,
    total: 1.5,
    text: "hello",
    emoji: "h😀",
    vip: true,
    nothing: null,
    tags: ["a", "b", 3],
    mixed: ["x", 1],
    items: [{ sku: "s1", price: 5 }, { price: 20 }, { sku: "s3", price: 30 }],
    user: { id: "u1", "first-name": "Ada" },
    at: "2026-03-01T12:30:00Z",
    list: [1, 2, 3],
  },
};

function compile(text: string): Expression {
  const compiled = compileExpression(text);
  if (isFault(compiled)) assert.fail(`${text}: ${compiled.fault}`);
  return compiled;
}

function resultOf(text: string, async: Record<string, unknown> = EVENT): unknown {
  const outcome = compile(text).evaluate({ event: EVENT, async, nowMs: EVENT.ts });
  return "value" in outcome ? outcome.value : outcome;
}

test("expressions mean what their writers expect of JSON", () => {
  const cases: [string, unknown][] = [
    ["event.data.amount > 100", true],
    ["event.data.amount >= 150 && event.data.amount <= 150.0", true],
    ["event.data.n == 1", true],
    ["1 == event.data.n", true],
    ["event.data.n == 1.0", true],
    ["event.data.n != 1", false],
    ["event.data.total == 1.5", true],
    ["event.data.text == 1", false],
    ["event.data.nothing == null", true],
    ["event.data.vip", true],
    ["!event.data.vip", false],
    ["event.data.vip ? 100 : 0", 100],
    ['event.data.vip ? "high" : 0', "high"],
    ["event.data.amount * 2 > 299", true],
    ["event.data.amount + 1", 151],
    ["event.data.amount / 4", 37.5],
    ["7 / 2", 3],
    ["-7 / 2", -3],
    ["7 % 4", 3],
    ["event.data.amount % 2 == 0", true],
    ["-event.data.n", -1],
    ["event.data.text + '-' + string(event.data.n)", "hello-1"],
    ["event.data.text < 'hez'", true],
    ["event.data.text.startsWith('he') && event.data.text.endsWith('lo') && event.data.text.contains('ell')", true],
    ["event.data.text.matches('^h.*o$')", true],
    ["matches(event.data.text, 'l{2}')", true],
    ["event.data.text.matches('z')", false],
    ["size(event.data.text) == 5", true],
    ["event.data.emoji.size()", 2],
    ["event.data.tags.size() + size(event.data.user)", 5],
    ["event.data.text.upperAscii() + 'X'.lowerAscii() + ' y '.trim()", "HELLOxy"],
    ["'a,b'.split(',').join('+') + 'abc'.substring(1, 2) + 'aa'.replace('a', 'b')", "a+bbbb"],
    ["'abcb'.indexOf('b') + 'abcb'.lastIndexOf('b')", 4],
    ["int('12') + int(1.9) + int(event.data.total)", 14],
    ["double('1.5') + double(1)", 2.5],
    ["bool('true')", true],
    ["uint(3) == 3u", true],
    ["'b' in event.data.tags", true],
    ["3 in event.data.tags", true],
    ["1 in event.data.mixed", true],
    ["event.data.n in [2, 1, 'x']", true],
    ["'id' in event.data.user", true],
    ["'name' in event.data.user", false],
    ["event.data.tags[2] == 3 && event.data.user['first-name'] == 'Ada'", true],
    ["event.data.list == [1, 2, 3]", true],
    ["event.data.list == [1, 2]", false],
    ["event.data.user == {'id': 'u1', 'first-name': 'Ada'}", true],
    ["[1, event.data.total, {'a': [2]}]", [1, 1.5, { a: [2] }]],
    ["[1] + [2]", [1, 2]],
    ["event.data.x == 1", false],
    ["event.data.x != 1", true],
    ["event.data.x == null", true],
    ["event.data.x.y == null", true],
    ["event.data.nothing.y == null", true],
    ["event.data.x != null", false],
    ["event.data.x == event.data.y", false],
    ["event.data.x != event.data.y", true],
    ["has(event.data.x)", false],
    ["has(event.data.text)", true],
    ["has(event.data.nothing)", true],
    ["has(event.data.toString)", false],
    ["!has(event.data.x) || event.data.x == 2", true],
    ["event.data.x == 1 || event.data.n == 1", true],
    ["event.data.n == 2 && event.data.x == 1", false],
    ["event.data.x == 1 && event.data.n == 2", false],
    ["event.data.items.exists(item, item.price > 25)", true],
    ["event.data.items.exists(item, item.sku == 's3')", true],
    ["event.data.items.all(item, item.price > 10)", false],
    ["event.data.items.exists_one(item, item.price == 5)", true],
    ["event.data.items.filter(item, has(item.sku)).map(item, item.sku)", ["s1", "s3"]],
    ["event.data.items.map(item, item.price > 10, item.price * 2)", [40, 60]],
    ["event.data.user.exists(key, key == 'id')", true],
    ["event.data.list.exists(x, event.data.list.exists(y, x + y == 6))", true],
    ["event.data.list.map(x, x > 1, x * 2)", [4, 6]],
    ["event.data.list.map(x, event.data.list.filter(y, y > x))", [[2, 3], [3], []]],
    ["event.data.n.exists(x, true)", { fault: "a loop needs a list or an object, not a number" }],
    ["timestamp(event.data.at) < timestamp('2026-03-02T00:00:00Z')", true],
    ["timestamp(event.data.at).getHours()", 12],
    ["timestamp(event.ts)", "2026-01-01T00:00:00.000Z"],
    ["timestamp(event.data.at) - duration('30m')", "2026-03-01T12:00:00.000Z"],
    ["timestamp(event.data.at) - timestamp(event.ts) > duration('24h')", true],
    ["duration('1h30m').getMinutes()", 90],
    ["now()", "2026-01-01T00:00:00.000Z"],
    ["now_plus('1d') - now_minus('1h') == duration('25h')", true],
    ["date(event.data.at) > now()", true],
    ["lowercase('ÀB') + uppercase('ç')", "àbÇ"],
    ["event.name == 'shop/order.created' && event.v == '1'", true],
    ["async.data.user.id == event.data.user.id", true],
    ["{'__proto__': 1} == {}", false],
  ];
  for (const [text, expected] of cases) assert.deepEqual(resultOf(text), expected, text);
});

test("what has no value is a fault that says why, and does not match", () => {
  const cases: [string, string][] = [
    ["event.data.x > 1", "event.data has no field x"],
    ["has(event.data.x.y)", "event.data has no field x"],
    ["event.data.text.y == 1", "event.data.text is a string, not an object"],
    ["event.data.x || event.data.n == 2", "event.data has no field x"],
    ["event.data.text > 1", "> cannot compare a string with a number"],
    ["event.data.text + event.data.n", "+ cannot take a string and a number"],
    ["event.data.tags[7] == 1", "event.data.tags has nothing at [7]"],
    ["event.data.n.startsWith('1')", "a string is needed, not a number"],
    ["event.data.n ? true : false", "true or false is needed, not a number"],
    ["event.data.items.exists(item, item.sku.startsWith('s9'))", "item has no field sku"],
    ["event.data.__proto__ > 1", "event.data has no field __proto__"],
    ["event.data.constructor > 1", "event.data has no field constructor"],
    ["1 / 0 == 1", "division by zero"],
    ["9223372036854775807 + 1 == 0", "a whole number is beyond 64 bits"],
    ["timestamp('yesterday') == timestamp(1.0)", "timestamp() needs a text such as 2026-01-31T12:00:00Z, or milliseconds"],
  ];
  for (const [text, message] of cases) assert.deepEqual(compile(text).matches({ event: EVENT }), { fault: message }, text);
  assert.deepEqual(compile("event.data.n").matches({ event: EVENT }), { fault: "true or false is needed, not a number" });
  assert.deepEqual(compile("async.data.n == 1").matches({ event: EVENT }), { fault: "there is no async event here" });
});

test("what cannot be compiled is refused with a sentence", () => {
  const cases: [string, RegExp][] = [
    ["", /^Unexpected/],
    ["event.", /^Expected name, got end of the expression at character 7$/],
    ["event.data.x >> 1", /^Unexpected ">" at character 15$/],
    ["event.data.x in [1, 2", /^Expected "\]", got end of the expression at character 22$/],
    ["event.data.x ==", /at character/],
    ["foo == 1", /^unknown variable foo: there are event and/],
    ["later() > 1", /^unknown function later$/],
    ["event.data.x.constructor('a')", /^unknown function constructor$/],
    ["event.data.x.startsWith()", /^startsWith\(\) does not take 0 arguments$/],
    ["has(event)", /^has\(\) needs a field/],
    ["event.data.x.matches('(')", /^"\(" is not a valid RE2 regular expression/],
    ["event.data.x.matches('(?=a)')", /^"\(\?=a\)" is not a valid RE2 regular expression/],
    ["b'x' == event.data.x", /^bytes have no counterpart/],
    [
      "event.data.items.exists(item)",
      /^exists\(\) needs a variable and an expression, such as event\.data\.items\.exists\(item, item\.price > 10\)$/,
    ],
    ["event.data.items.exists(1, true)", /iteration variable/],
    ["event.data.items.filter(a, a.b, a.c)", /^filter\(\) needs a variable/],
    ["event.data.items.map(a)", /^map\(\) needs a variable/],
    ["event.data.items.map(a, true, a, a)", /^map\(\) needs a variable/],
    ["item.x == 1 && event.data.items.exists(item, true)", /^unknown variable item/],
    [`event.data.x == '${"x".repeat(EXPRESSION_LENGTH_MAX)}'`, /^an expression is at most 1000 characters long$/],
    ["!".repeat(900), /.+/],
    [`${"(".repeat(400)}1${")".repeat(400)}`, /.+/],
  ];
  for (const [text, message] of cases) {
    const outcome = compileExpression(text);
    assert.ok(isFault(outcome), text);
    assert.match(outcome.fault, message);
  }
});

test("only what names async uses it", () => {
  assert.equal(compile("async.data.a == event.data.a").usesAsync, true);
  assert.equal(compile("event.data.list.exists(x, x == async.data.a)").usesAsync, true);
  assert.equal(compile("event.data.async == 1").usesAsync, false);
});

test("the work of an evaluation is bounded, whatever the event carries", () => {
  const many = Array.from({ length: 100_000 }, (_, i) => i);
  const event = { data: { many, long: `${"a".repeat(400_000)}!`, other: many.map((n) => n + 0.5) } };
  const tooMuch = { fault: "the expression takes too much work on an event of this size" };
  const started = process.threadCpuUsage();
  assert.deepEqual(compile("event.data.many.exists(x, event.data.many.exists(y, x + y == -1))").matches({ event }), tooMuch);
  assert.deepEqual(compile("event.data.many.exists(x, x in event.data.other)").matches({ event }), tooMuch);
  assert.deepEqual(compile("event.data.many.exists(x, event.data.nothing || event.data.long.contains('b'))").matches({ event }), tooMuch);
  assert.deepEqual(compile("event.data.many.exists(x, event.data.long.matches('b'))").matches({ event }), tooMuch);
  assert.ok(
    isFault(compile(`event.data.n == 1 && (${"true && (".repeat(60)}event.data.x > 1${")".repeat(60)})`).matches({ event: EVENT })),
  );
  assert.equal(compile("event.data.long.matches('^(a+)+$')").matches({ event }), false);
  // RE2 follows each of a thousand states at every character.
  assert.deepEqual(compile("event.data.long.matches('[ab]*a[ab]{1000}[cd]')").matches({ event }), tooMuch);
  assert.deepEqual(
    compile("event.data.many.exists(x, 'a'.matches(event.data.pattern))").matches({
      event: { data: { ...event.data, pattern: "a{1000}" } },
    }),
    tooMuch,
  );
  assert.ok(isFault(compileExpression(`event.data.long.matches('(${"a?".repeat(400)}){1000}')`)));
  assert.equal(compile("event.data.many.exists(x, x == 99999)").matches({ event }), true);
  const tookMs = process.threadCpuUsage(started).user / 1_000;
  assert.ok(tookMs < 5_000, `it took ${tookMs} ms of CPU time`);
});

test("deep values are compared without overflowing the stack", () => {
  const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  const event = { data: { a: nested(600), b: nested(600), c: nested(599) } };
  assert.equal(compile("event.data.a == event.data.b").matches({ event }), true);
  assert.equal(compile("event.data.a == event.data.c").matches({ event }), false);
});

test("the compiled form is kept, and forgotten when many others came", () => {
  const first = compileExpression("event.data.kept == 1");
  assert.equal(compileExpression("event.data.kept == 1"), first);
  for (let i = 0; i < 2_100; i++) compileExpression(`event.data.n == ${i}`);
  assert.notEqual(compileExpression("event.data.kept == 1"), first);
});
