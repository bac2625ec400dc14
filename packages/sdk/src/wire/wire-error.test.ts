import assert from "node:assert/strict";
import { test } from "node:test";
import { toWireError } from "./wire-error.ts";

const refused = (address: string) => Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: "ECONNREFUSED" });

test("the error of many reasons says them; one without a message says its code", () => {
  const of = (thrown: unknown) => toWireError(thrown).message;
  const both = Object.assign(new AggregateError([refused("::1:5432"), refused("127.0.0.1:5432")], ""), { code: "ECONNREFUSED" });
  assert.equal(of(both), "connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432");
  assert.equal(of(new AggregateError([both, new Error("no")], "All promises were rejected")).split("; ").length, 3);
  assert.equal(
    of(
      new AggregateError(
        Array.from({ length: 100 }, (_, n) => new Error(`${n}`)),
        "All of them",
      ),
    ),
    "All of them: 0; 1; 2; 3; 4",
  );
  assert.equal(of(Object.assign(new Error(""), { code: "EPIPE" })), "EPIPE");
  assert.equal(of(Object.assign(new Error("invalid"), { errors: [{ message: "a field" }] })), "invalid");
  assert.equal(of(new AggregateError([], "")), "");
  const itself = new AggregateError([], "round");
  itself.errors.push(itself, itself);
  assert.equal(of(itself), "round: round: round; round; round: round; round");
  const { cause } = toWireError(new Error("the database is away", { cause: both }));
  assert.match((cause as Error).message, /::1:5432; /);
});
