import assert from "node:assert/strict";
import { test } from "node:test";
import { ENVIRONMENT_HEADER, ENVIRONMENT_HEADER_ALIAS, EVENT_ID_SEED_HEADER, environmentNamed, RUN_HEADER } from "./headers.ts";

test("a request names its environment by the service's own header, or else by the alias", () => {
  const own = "x-service-env";
  const alias = "x-inngest-env";
  assert.equal(environmentNamed({}), null);
  assert.equal(environmentNamed({ [own]: "staging" }), "staging");
  assert.equal(environmentNamed({ [alias]: "staging" }), "staging");
  assert.equal(environmentNamed({ [own]: "one", [alias]: "two" }), "one");
  assert.equal(environmentNamed({ [own]: "", [alias]: "two" }), "two", "an empty one names nothing");
  assert.equal(environmentNamed({ [own]: "", [alias]: "" }), null);
  assert.equal(environmentNamed({ [own]: ["first", "second"] }), "first", "a repeated one: the first counts");
  assert.equal(environmentNamed({ [own]: [], [alias]: ["two"] }), "two");
});

test("headers are those that SDKs send", () => {
  assert.deepEqual([ENVIRONMENT_HEADER, ENVIRONMENT_HEADER_ALIAS], ["x-service-env", "x-inngest-env"]);
  assert.deepEqual([RUN_HEADER, EVENT_ID_SEED_HEADER], ["x-service-run", "x-inngest-event-id-seed"]);
});
