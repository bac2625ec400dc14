import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallResponseOf } from "../steps/call-response.ts";
import { type AppResponse, readResponse } from "./read-response.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const SDK = { "x-inngest-sdk": "js:v4.0.0" };

function read(status: number, body: string, headers: AppResponse["headers"] = SDK) {
  return readResponse("inngest", { status, body, headers }, NOW);
}
const answer = (...given: Parameters<typeof read>) => read(...given).answer;
const failed = (...given: Parameters<typeof read>) => answer(...given) as CallResponseOf<"failed">;

test("200 is the result, whatever JSON it is; nothing is null", () => {
  for (const body of ['{"a":1}', "null", "[]", '"x"', "12345678901234567890"])
    assert.deepEqual(answer(200, body), { kind: "finished", output: body });
  assert.deepEqual(answer(200, " "), { kind: "finished", output: "null" });
  assert.deepEqual(answer(204, ""), { kind: "finished", output: "null" });
});

test("a 2xx from something that is not an SDK completes nothing", () => {
  for (const status of [200, 201, 204, 206]) {
    const { error, mayRetry } = failed(status, "<html>login</html>", {});
    assert.deepEqual([error.name, mayRetry], ["NotAnSdk", true]);
    assert.match(error.message, /login/);
  }
  assert.equal(readResponse("service", { status: 200, body: "1", headers: SDK }, NOW).answer.kind, "failed", "the other set of headers");
  assert.equal(readResponse("service", { status: 200, body: "1", headers: { "x-service-sdk": "js" } }, NOW).answer.kind, "finished");
});

test("206 is operations, one or several; anything else with it is no answer", () => {
  const list = answer(206, '[{"op":"StepPlanned","id":"a","name":"n"}]') as CallResponseOf<"operations">;
  assert.deepEqual([list.operations[0]?.op, list.operations[0]?.id], ["stepplanned", "a"]);
  assert.equal((answer(206, '{"op":"None"}') as CallResponseOf<"operations">).operations.length, 1);
  for (const body of ["", "null", "3", "[1]", '[{"id":"x"}]', "{"]) assert.equal(failed(206, body).error.name, "BadResponse", body);
});

test("a stream is unwrapped: its own status, headers and body count", () => {
  const stream = (inner: object) => `   \n ${JSON.stringify(inner)}`;
  assert.deepEqual(answer(201, stream({ status: 200, body: '"x"', headers: { "X-Inngest-SDK": "js" } }), {}), {
    kind: "finished",
    output: '"x"',
  });
  const ops = read(201, stream({ status: 206, body: '[{"op":"None"}]', headers: { "x-inngest-req-version": "2" } }));
  assert.deepEqual([ops.answer.kind, ops.requestVersion], ["operations", 2]);
  const error = failed(201, stream({ status: 500, body: '{"message":"m"}', headers: { "x-inngest-no-retry": "true" } }));
  assert.deepEqual([error.error.message, error.httpStatus, error.mayRetry], ["m", 500, false]);
  assert.deepEqual(answer(201, stream({ status: 200, body: { a: 1 } })), { kind: "finished", output: '{"a":1}' });
  const fromGo = answer(201, stream({ status: 206, body: [{ op: "None", id: "x" }], headers: null }));
  assert.equal(fromGo.kind, "operations", "operations as values, and no headers");
  for (const envelope of ["", "null", "[]", '"text"', "{}", '{"status":"200"}', '{"status":']) {
    assert.deepEqual(failed(201, envelope).error.name, "BadResponse", `${envelope} is no result`);
  }
});

test("an error says what went wrong, in the SDK's words where there are any", () => {
  const { error, body } = failed(500, '{"name":"TypeError","message":"no","stack":"at x"}');
  assert.deepEqual(error, { name: "TypeError", message: "no", stack: "at x" });
  assert.notEqual(body, null);
  assert.equal(failed(500, '"just text"').error.message, "just text");
  assert.match(failed(502, "<h1>Bad Gateway</h1>", {}).error.message, /status 502: <h1>Bad Gateway/);
  assert.match(failed(500, "").error.message, /\(nothing\)/);
  assert.ok(failed(500, "x".repeat(5_000)).error.message.length < 700);
});

test("whether to try again is the SDK's to say, and every status else may be", () => {
  assert.equal(failed(400, "{}").mayRetry, true);
  assert.equal(failed(500, "{}", { ...SDK, "x-inngest-no-retry": "true" }).mayRetry, false);
  assert.equal(failed(500, "{}", { ...SDK, "x-inngest-no-retry": "false" }).mayRetry, true);
  assert.equal((answer(206, "[]", { ...SDK, "x-inngest-no-retry": "true" }) as CallResponseOf<"operations">).mayRetry, false);
});

test("when to try again: seconds or a date, between a second and a day", () => {
  const after = (value: string) => failed(500, "{}", { ...SDK, "retry-after": value }).retryAfterMs;
  assert.equal(after("30"), 30_000);
  assert.equal(after("0"), 1_000);
  assert.equal(after("-5"), 1_000);
  assert.equal(after("9999999"), 86_400_000);
  assert.equal(after("Thu, 01 Jan 2026 00:01:00 GMT"), 60_000);
  assert.equal(after("2026-01-01T00:00:30.500Z"), 30_500);
  assert.equal(after("2020-01-01T00:00:00Z"), 1_000);
  assert.equal(after("soon"), null);
  assert.equal(after(""), null);
  assert.equal(failed(500, "{}").retryAfterMs, null);
});

test("the version the SDK speaks is taken if it is a number", () => {
  assert.equal(read(200, "1", { ...SDK, "x-inngest-req-version": "1" }).requestVersion, 1);
  assert.equal(read(200, "1", { ...SDK, "x-inngest-req-version": "new" }).requestVersion, null);
  assert.equal(read(200, "1").requestVersion, null);
});

test("the Go SDK streams values, and says beside them when to try again", () => {
  const envelope = (fields: object) => JSON.stringify({ body: null, retryAt: null, noRetry: false, headers: null, ...fields });
  const finished = answer(201, envelope({ status: 200, body: "12" })) as CallResponseOf<"finished">;
  assert.deepEqual([finished.kind, finished.output], ["finished", '"12"']);
  const operations = answer(201, envelope({ status: 206, body: [{ op: "StepRun", id: "a", name: "a", data: 1 }] }));
  assert.equal(operations.kind, "operations");
  const final = failed(201, envelope({ status: 500, body: "error calling function: ill", noRetry: true }));
  assert.deepEqual([final.error.message, final.mayRetry], ["error calling function: ill", false]);
  assert.equal(failed(201, envelope({ status: 500, body: "x", retryAt: "2026-01-01T00:00:30Z" })).retryAfterMs, 30_000);
});
