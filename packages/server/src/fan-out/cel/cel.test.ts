/** Every function and operator of expressions, at its boundaries. `../expressions.test.ts` has what writers of expressions expect. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compileExpression, isFault } from "../expressions.ts";

const DATA = {
  one: 1,
  half: 0.5,
  text: "Hello",
  no: false,
  nothing: null,
  list: [1, 2, 3],
  empty: [],
  map: { a: 1, b: 2 },
  rows: [{ n: 1 }, { n: 2 }, { m: 3 }],
  at: "2026-03-05T06:07:08.009Z",
  big: 2 ** 63,
  huge: "x".repeat(64_000),
};
const NOW_MS = Date.UTC(2026, 2, 5);

function resultOf(text: string): unknown {
  const compiled = compileExpression(text);
  if (isFault(compiled)) return compiled;
  const outcome = compiled.evaluate({ event: { data: DATA }, nowMs: NOW_MS });
  return "value" in outcome ? outcome.value : outcome;
}

/** `@` is short for `event.data.` */
function check(cases: readonly (readonly [string, unknown])[]): void {
  for (const [text, expected] of cases) assert.deepEqual(resultOf(text.replaceAll("@", "event.data.")), expected, text);
}

function fault(message: string): { fault: string } {
  return { fault: message };
}

test("loops over lists and keys", () => {
  check([
    ["@list.all(x, x > 0)", true],
    ["@list.all(x, x > 1)", false],
    ["@empty.all(x, false)", true],
    ["@list.exists(x, x == 3)", true],
    ["@list.exists(x, x == 4)", false],
    ["@empty.exists(x, true)", false],
    ["@list.exists_one(x, x == 2)", true],
    ["@list.exists_one(x, x > 1)", false],
    ["@list.exists_one(x, x > 3)", false],
    ["@list.filter(x, x != 2)", [1, 3]],
    ["@list.map(x, x * 10)", [10, 20, 30]],
    ["@list.map(x, x > 1, x * 10)", [20, 30]],
    ["@map.map(key, key)", ["a", "b"]],
    ["@map.all(key, key in ['a', 'b'])", true],
    [
      "@list.map(x, @list.map(y, x * y))",
      [
        [1, 2, 3],
        [2, 4, 6],
        [3, 6, 9],
      ],
    ],
    ["@list.filter(x, @list.exists(y, y == x + 1)).map(x, x)", [1, 2]],
  ]);
});

test("a decisive element outweighs those without a value, and otherwise the first of these is told", () => {
  check([
    ["@rows.exists(row, row.n > 1)", true],
    ["@rows.exists(row, row.n > 5)", fault("row has no field n")],
    ["@rows.all(row, row.n > 1)", false],
    ["@rows.all(row, row.n > 0)", fault("row has no field n")],
    ["[1, null].exists(x, x.startsWith('b'))", fault("a string is needed, not a number")],
    ["@rows.filter(row, row.n > 0)", fault("row has no field n")],
    ["@rows.exists_one(row, row.n > 1)", fault("row has no field n")],
    ["@list.exists(x, x)", fault("true or false is needed, not a number")],
    ["@text.exists(x, true)", fault("a loop needs a list or an object, not a string")],
    ["@nothing.all(x, true)", fault("a loop needs a list or an object, not null")],
  ]);
});

test("the rounds of a loop are counted, also over keys", () => {
  const keys = Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`k${i}`, i]));
  const compiled = compileExpression(
    "event.data.keys.exists(a, false) || event.data.keys.exists(a, false) || event.data.keys.exists(a, false)",
  );
  assert.ok(!isFault(compiled));
  assert.deepEqual(compiled.matches({ event: { data: { keys } } }), fault("the expression takes too much work on an event of this size"));
  const once = compileExpression("event.data.keys.exists(a, false)");
  assert.ok(!isFault(once));
  assert.equal(once.matches({ event: { data: { keys } } }), false);
});

test("and, or and choice", () => {
  check([
    ["true && true", true],
    ["true && false", false],
    ["false || false", false],
    ["false || true", true],
    ["@x > 1 && false", false],
    ["false && @x > 1", false],
    ["@x > 1 || true", true],
    ["true || @x > 1", true],
    ["@x > 1 && true", fault("event.data has no field x")],
    ["true && @x > 1", fault("event.data has no field x")],
    ["@x > 1 || false", fault("event.data has no field x")],
    ["@y > 1 || @x > 1", fault("event.data has no field x")],
    ["1 && true", fault("true or false is needed, not a number")],
    ["true && 'a'", fault("true or false is needed, not a string")],
    ["!1", fault("true or false is needed, not a number")],
    ["@no ? 1 : 2", 2],
    ["!@no ? 1 : @x", 1],
  ]);
});

test("fields and elements", () => {
  check([
    ["@nothing.a > 1", fault("event.data.nothing is null, not an object")],
    ["@one.a == null", fault("event.data.one is a number, not an object")],
    ["@list[0]", 1],
    ["@list[2.0]", 3],
    ["@list[3]", fault("event.data.list has nothing at [3]")],
    ["@list[-1]", fault("event.data.list has nothing at [-1]")],
    ["@list['0']", fault("event.data.list has nothing at ['0']")],
    ["@map['a']", 1],
    ["@map[1]", fault("event.data.map has nothing at [1]")],
    ["@map['toString']", fault("event.data.map has nothing at ['toString']")],
    ["@text[0]", fault("event.data.text has nothing at [0]")],
    ["has(@map.a)", true],
    ["has(@text.a)", false],
    ["has(@map)", true],
    ["has(@map.a, @map.b)", fault("has() needs a field, such as has(event.data.user)")],
    ["has(1)", fault("has() needs a field, such as has(event.data.user)")],
    ["{'a': 1}.a", 1],
    ["{1: 2}", fault("a string is needed, not a number")],
    ["async.data.a == 1", fault("there is no async event here")],
  ]);
});

test("equality", () => {
  check([
    ["1 == 1.0", true],
    ["@one == @half", false],
    ["1 == '1'", false],
    ["'1' == 1", false],
    ["null == null", true],
    ["null == false", false],
    ["@list == [1.0, 2, 3]", true],
    ["@list == [1, 2, 4]", false],
    ["@list == @map", false],
    ["@map == @list", false],
    ["@map == {'b': 2, 'a': 1.0}", true],
    ["@map == {'a': 1}", false],
    ["@map == {'a': 1, 'c': 2}", false],
    ["{'a': 1, 'c': 2} == @map", false],
    ["@map == null", false],
    ["null == @map", false],
    ["timestamp(@at) == timestamp(@at)", true],
    ["timestamp(@at) == now()", false],
    ["timestamp(@at) == @map", false],
    ["@map == timestamp(@at)", false],
    ["duration('1m') == duration('60s')", true],
    ["duration('1m') == duration('61s')", false],
    ["duration('1m') == @map", false],
    ["@missing == null", true],
    ["@missing != null", false],
    ["null == @missing", true],
    ["@missing == @other", false],
    ["@list[7] == null", fault("event.data.list has nothing at [7]")],
    ["@text.a == null", fault("event.data.text is a string, not an object")],
  ]);
});

test("order", () => {
  check([
    ["[1 < 2, 2 < 1, 1 < 1]", [true, false, false]],
    ["[1 <= 2, 2 <= 1, 1 <= 1]", [true, false, true]],
    ["[1 > 2, 2 > 1, 1 > 1]", [false, true, false]],
    ["[1 >= 2, 2 >= 1, 1 >= 1]", [false, true, true]],
    ["['a' < 'b', 'b' < 'a', 'a' < 'a', 'a' <= 'a', 'b' > 'a']", [true, false, false, true, true]],
    ["[false < true, true < false, true <= true]", [true, false, true]],
    ["[now() < timestamp(@at), timestamp(@at) < now(), now() >= now()]", [true, false, true]],
    ["[duration('1s') < duration('2s'), duration('2s') < duration('1s')]", [true, false]],
    ["[1 < @half, @half < 1, double('NaN') < 1, double('NaN') >= 1]", fault('double() cannot convert "NaN"')],
    ["[0.0 / 0.0 < 1.0, 0.0 / 0.0 >= 1.0, 0.0 / 0.0 <= 1.0]", [false, false, false]],
    ["'a' < 1", fault("< cannot compare a string with a number")],
    ["1 <= 'a'", fault("<= cannot compare a number with a string")],
    ["true > 1", fault("> cannot compare a boolean with a number")],
    ["1 > true", fault("> cannot compare a number with a boolean")],
    ["now() >= 1", fault(">= cannot compare a timestamp with a number")],
    ["1 >= now()", fault(">= cannot compare a number with a timestamp")],
    ["duration('1s') < now()", fault("< cannot compare a duration with a timestamp")],
    ["now() < duration('1s')", fault("< cannot compare a timestamp with a duration")],
    ["@list < @map", fault("< cannot compare a list with an object")],
    ["null < 1", fault("< cannot compare null with a number")],
  ]);
});

test("in", () => {
  check([
    ["2 in @list", true],
    ["4 in @list", false],
    ["'a' in @map", true],
    ["'c' in @map", false],
    ["1 in {'1': 1}", false],
    ["'toString' in @map", false],
    ["'H' in @text", fault("the operator in needs a list or an object on its right, not a string")],
  ]);
});

test("arithmetic", () => {
  check([
    ["2 * 3", 6],
    ["2 * 1.5", 3],
    ["7 / 2", 3],
    ["7.0 / 2", 3.5],
    ["-7 % 4", -3],
    ["7 - 2", 5],
    ["@half - 1", -0.5],
    ["@one % 2", 1],
    ["@half % 2", fault("the operator % needs whole numbers, and not 0 on its right")],
    ["@one % 0.5", fault("the operator % needs whole numbers, and not 0 on its right")],
    ["@one % 0", fault("the operator % needs whole numbers, and not 0 on its right")],
    ["1 % 0", fault("division by zero")],
    ["1 / 0", fault("division by zero")],
    ["-1", -1],
    ["-@half", -0.5],
    ["-@text", fault("the operator - needs a number, not a string")],
    ["-int('-5')", 5],
    ["9223372036854775807", "9223372036854775807"],
    ["9223372036854775806 + 1", "9223372036854775807"],
    ["9223372036854775807 + 1", fault("a whole number is beyond 64 bits")],
    ["-9223372036854775807 - 1", "-9223372036854775808"],
    ["-9223372036854775807 - 2", fault("a whole number is beyond 64 bits")],
    ["-(-9223372036854775807 - 1)", fault("a whole number is beyond 64 bits")],
    ["9223372036854775807 * 2", fault("a whole number is beyond 64 bits")],
    ["@text * 2", fault("* cannot take a string and a number")],
    ["1 / 'a'", fault("/ cannot take a number and a string")],
    ["1 % 'a'", fault("% cannot take a number and a string")],
    ["1 - 'a'", fault("- cannot take a number and a string")],
    ["1 + [1]", fault("+ cannot take a number and a list")],
    ["[1] + 1", fault("+ cannot take a list and a number")],
    ["'a' + 1", fault("+ cannot take a string and a number")],
    ["'a' + 'b'", "ab"],
    ["[1] + []", [1]],
  ]);
});

test("arithmetic of times", () => {
  check([
    ["now() + duration('1m')", "2026-03-05T00:01:00.000Z"],
    ["duration('1m') + now()", "2026-03-05T00:01:00.000Z"],
    ["duration('1m') + duration('1s')", 61_000],
    ["now() - duration('1m')", "2026-03-04T23:59:00.000Z"],
    ["timestamp(@at) - now()", 22_028_009],
    ["duration('1m') - duration('1s')", 59_000],
    ["duration('1m') - now()", fault("- cannot take a duration and a timestamp")],
    ["now() + now()", fault("+ cannot take a timestamp and a timestamp")],
    ["now() + 1", fault("+ cannot take a timestamp and a number")],
    ["duration('1m') + 1", fault("+ cannot take a duration and a number")],
    ["1 - duration('1m')", fault("- cannot take a number and a duration")],
    ["now() - 1", fault("- cannot take a timestamp and a number")],
    ["duration('1m') - 1", fault("- cannot take a duration and a number")],
  ]);
});

test("functions of text", () => {
  check([
    ["['Hello'.startsWith('He'), @text.startsWith('lo'), @text.endsWith('lo'), @text.endsWith('He')]", [true, false, true, false]],
    ["[@text.contains('ell'), @text.contains('x')]", [true, false]],
    ["['AbÉ'.lowerAscii(), 'aBé'.upperAscii(), lowercase('AbÉ'), uppercase('aBé')]", ["abÉ", "ABé", "abé", "ABÉ"]],
    ["'  a b '.trim()", "a b"],
    ["['abab'.indexOf('b'), 'abab'.lastIndexOf('b'), 'a'.indexOf('b')]", [1, 3, -1]],
    ["['abc'.substring(1), 'abc'.substring(0, 2), 'abc'.substring(3), 'abc'.substring(1, 1)]", ["bc", "ab", "", ""]],
    ["'abc'.substring(-1)", fault("substring() reaches beyond the string")],
    ["'abc'.substring(2, 1)", fault("substring() reaches beyond the string")],
    ["'abc'.substring(0, 4)", fault("substring() reaches beyond the string")],
    ["'a-b-c'.replace('-', '$&')", "a$&b$&c"],
    ["'a,b'.split(',')", ["a", "b"]],
    ["['a', 'b'].join()", "ab"],
    ["['a', 'b'].join('-')", "a-b"],
    ["[1].join()", fault("a string is needed, not a number")],
    ["'a'.join()", fault("join() needs a list, not a string")],
    ["[size('abc'), size('😀'), 'a😀b'.size(), size([1]), size({'a': 1}), size('')]", [3, 1, 3, 1, 1, 0]],
    [
      "[size('\ud83d'), size('\ude00\ud83d'), size('a\ude00'), size('\u{10ffff}'), size('\u{10000}'), size('\ue000\udc00')]",
      [1, 2, 2, 1, 1, 2],
    ],
    ["size(1)", fault("size() needs a string, a list or an object, not a number")],
    ["size(now())", fault("size() needs a string, a list or an object, not a timestamp")],
    ["size(duration('1s'))", fault("size() needs a string, a list or an object, not a duration")],
    ["lowercase(1)", fault("a string is needed, not a number")],
    ["@text.startsWith(1)", fault("a string is needed, not a number")],
    ["@text.matches('^H') && matches(@text, @text)", true],
    ["@text.matches(1)", fault("a string is needed, not a number")],
    ["@one.matches('a')", fault("a string is needed, not a number")],
    ["@text.matches('[')", fault('"[" is not a valid RE2 regular expression: error parsing regexp: missing closing ]: `[`')],
    ["@text.matches(@huge)", fault("a regular expression is at most 1000 characters long")],
    ["trim('a')", fault("unknown function trim")],
    ["'a'.now()", fault("unknown function now")],
    ["'a'.trim(1)", fault("trim() does not take 1 arguments")],
    ["lowercase('a', 'b')", fault("lowercase() does not take 2 arguments")],
  ]);
});

test("the work of functions counts by the length of the text", () => {
  const tooMuch = fault("the expression takes too much work on an event of this size");
  check([
    ["[@huge.trim(), @huge.trim()].size()", 2],
    ["@huge.replace('x', 'abcdefghijklmnop')", tooMuch],
    ["@huge.replace('x', 'a').size()", 64_000],
    ["@list.exists(x, size(@huge) < 0) ? 1 : 0", 0],
    [`[${Array(20).fill("@huge.split('y')").join(",")}]`, tooMuch],
    [`size([${Array(14).fill("@huge.split('y')").join(",")}])`, 14],
    [`[${Array(17).fill("@huge.matches('y')").join(",")}]`, tooMuch],
  ]);
});

test("conversions", () => {
  check([
    [
      "[string(1), string(0.5), string(true), string('a'), string(timestamp(@at)), string(duration('90s'))]",
      ["1", "0.5", "true", "a", DATA.at, "90s"],
    ],
    ["string(@map)", fault("string() cannot convert an object")],
    ["string(@list)", fault("string() cannot convert a list")],
    ["string(null)", fault("string() cannot convert null")],
    [
      "[int(1), int(1.9), int(-1.9), int('12'), int('-12'), int(timestamp(1500.0)), int('123456789012345678')]",
      [1, 1, -1, 12, -12, 1, "123456789012345678"],
    ],
    ["int('1.5')", fault('int() cannot convert "1.5"')],
    ["int('x1')", fault('int() cannot convert "x1"')],
    ["int('1x')", fault('int() cannot convert "1x"')],
    ["int('1234567890123456789')", fault('int() cannot convert "1234567890123456789"')],
    ["int('')", fault('int() cannot convert ""')],
    ["int(@big)", fault("int() cannot convert a number")],
    ["int(-@big)", fault("int() cannot convert a number")],
    ["int(true)", fault("int() cannot convert a boolean")],
    ["int(@huge)", fault(`int() cannot convert "${"x".repeat(50)}"`)],
    ["[uint(0), uint('3')]", [0, 3]],
    ["uint(-1)", fault("uint() cannot convert a negative number")],
    ["[double(1), double(0.5), double('1.5'), double('-1e2')]", [1, 0.5, 1.5, -100]],
    ["double('')", fault('double() cannot convert ""')],
    ["double(' 1')", fault('double() cannot convert " 1"')],
    ["double('x')", fault('double() cannot convert "x"')],
    ["double(true)", fault("double() cannot convert a boolean")],
    ["[bool(true), bool(false), bool('true'), bool('false')]", [true, false, true, false]],
    ["bool('yes')", fault('bool() cannot convert "yes"')],
    ["bool(1)", fault("bool() cannot convert a number")],
    ["dyn(@list)", [1, 2, 3]],
  ]);
});

test("fields of times", () => {
  check([
    [
      "[timestamp(@at)].map(t, [t.getFullYear(), t.getMonth(), t.getDate(), t.getDayOfMonth(), t.getDayOfWeek(), t.getDayOfYear()])",
      [[2026, 2, 5, 4, 4, 63]],
    ],
    ["[timestamp(@at)].map(t, [t.getHours(), t.getMinutes(), t.getSeconds(), t.getMilliseconds()])", [[6, 7, 8, 9]]],
    [
      "[duration('25h30m1s')].map(d, [d.getHours(), d.getMinutes(), d.getSeconds(), d.getMilliseconds()])",
      [[25, 1530, 91_801, 91_801_000]],
    ],
    ["duration('-90m').getHours()", -1],
    ["@one.getHours()", fault("a timestamp is needed, not a number")],
    ["@text.getFullYear()", fault("a timestamp is needed, not a string")],
    ["duration('1h').getFullYear()", fault("a timestamp is needed, not a duration")],
  ]);
});

test("times and durations are read as CEL says", () => {
  const noTime = fault("timestamp() needs a text such as 2026-01-31T12:00:00Z, or milliseconds");
  const noDuration = fault('duration() needs a text such as "1h30m"');
  check([
    ["timestamp('2026-03-05t06:07:08z')", "2026-03-05T06:07:08.000Z"],
    ["timestamp('2026-03-05T06:07:08.5+02:30')", "2026-03-05T03:37:08.500Z"],
    ["timestamp('2026-03-05T06:07:08-01:00')", "2026-03-05T07:07:08.000Z"],
    ["date('2026-03-05T06:07:08.123456789Z')", "2026-03-05T06:07:08.123Z"],
    ["timestamp(timestamp(@at))", DATA.at],
    ["timestamp(0.0)", "1970-01-01T00:00:00.000Z"],
    ["timestamp('2026-03-05T06:07:08')", noTime],
    ["timestamp('2026-03-05')", noTime],
    ["timestamp('x2026-03-05T06:07:08Z')", noTime],
    ["timestamp('2026-03-05T06:07:08Zx')", noTime],
    ["timestamp('2026-03-05T06:07:08.1234567890Z')", noTime],
    ["timestamp('2026-13-05T06:07:08Z')", noTime],
    ["timestamp(1e20)", noTime],
    ["timestamp(true)", noTime],
    ["duration(duration('1m'))", 60_000],
    ["duration('-1h30m')", -5_400_000],
    ["duration('x')", noDuration],
    ["duration(1)", noDuration],
    ["now_plus('1m')", "2026-03-05T00:01:00.000Z"],
    ["now_minus('1m')", "2026-03-04T23:59:00.000Z"],
  ]);
});
