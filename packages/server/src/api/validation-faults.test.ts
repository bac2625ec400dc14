import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv } from "ajv";
import { nameText } from "./name-text.ts";
import { WEB_URL } from "./text-patterns.ts";
import { faultsOf } from "./validation-faults.ts";

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });

function told(schema: object, value: unknown): string[] {
  const validate = ajv.compile(schema);
  assert.equal(validate(value), false);
  return faultsOf(validate.errors ?? []).map(({ field, message }) => `${field} ${message}`);
}

const fields = (properties: object, rest: object = {}) => ({ type: "object", additionalProperties: false, properties, ...rest });

test("a limit that may be null is told as one fault", () => {
  const schema = fields({ concurrency: { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] } });
  assert.deepEqual(told(schema, { concurrency: -1 }), ["concurrency must be at least 1, or null"]);
  assert.deepEqual(told(schema, { concurrency: "many" }), ["concurrency must be a whole number, or null"]);
});

test("a fault inside one of several alternatives is told where it is", () => {
  const rate = fields({ limit: { type: "integer" }, period: { type: "string" } }, { required: ["limit", "period"] });
  const schema = fields({ throttle: { anyOf: [{ type: "null" }, rate] } });
  assert.deepEqual(told(schema, { throttle: { limit: "1", size: 2 } }), [
    "throttle.period is required",
    "throttle.size is not a known parameter or field: check its spelling",
    "throttle.limit must be a whole number",
  ]);
  assert.deepEqual(told(schema, { throttle: 5 }), ["throttle must be an object, or null"]);
});

test("what alternatives have in common is told once", () => {
  const schema = fields({ body: { anyOf: [{ type: "string" }, { type: "array" }] } });
  assert.deepEqual(told(schema, { body: 5 }), ["body must be a string or a list"]);
  const twice = fields({ name: { anyOf: [{ type: "string" }, { type: "string", minLength: 2 }] } });
  assert.deepEqual(told(twice, { name: 5 }), ["name must be a string"]);
  assert.deepEqual(told({ anyOf: [{ type: "null" }] }, 1), ["body must be null"]);
});

test("allowed values, lengths and kinds are named", () => {
  const schema = fields({
    mode: { type: "string", enum: ["allow", "deny"] },
    name: { type: "string", minLength: 1 },
    list: { type: "array", maxItems: 1 },
    size: { type: ["integer", "null"], maximum: 9 },
    kinds: { type: "array", uniqueItems: true },
    host: { type: "string", pattern: "^[a-z]+$" },
    share: { type: "number", exclusiveMinimum: 0 },
  });
  assert.deepEqual(told(schema, { kinds: ["a", "a"], host: "A", share: 0 }), [
    "kinds must not have the same item twice",
    "host must match the pattern ^[a-z]+$",
    "share must be more than 0",
  ]);
  assert.deepEqual(told(schema, { mode: "x", name: "", list: [1, 2], size: 10 }), [
    "mode must be one of allow, deny",
    "name must not be empty",
    "list must have at most 1 items",
    "size must be at most 9",
  ]);
  assert.deepEqual(told({ type: "string", pattern: WEB_URL }, "ftp://a"), ["body must begin with http:// or https://"]);
  assert.deepEqual(told(nameText(9), "a\nb"), ["body must not contain control characters"]);
  assert.deepEqual(told(schema, { size: "x" }), ["size must be a whole number or null"]);
  assert.deepEqual(told(schema, []), ["body must be an object"]);
});

test("only the alternative that comes closest is told, and kinds only where none does", () => {
  const schema = fields({
    window: {
      anyOf: [
        { type: "integer", minimum: 10 },
        { type: "string", enum: ["usual"] },
      ],
    },
  });
  assert.deepEqual(told(schema, { window: 0 }), ["window must be at least 10"]);
  assert.deepEqual(told(schema, { window: "often" }), ["window must be a whole number or one of usual"]);
  assert.deepEqual(told(schema, { window: null }), ["window must be a whole number or one of usual"]);
  const time = fields({ since: { anyOf: [{ type: "string" }, { type: "integer", minimum: 0 }] } });
  assert.deepEqual(told(time, { since: -1 }), ["since must be at least 0"]);
  assert.deepEqual(told(time, { since: [1] }), ["since must be a string or a whole number"]);
  const mode = fields({ mode: { type: "string", enum: ["on", "off"] } });
  assert.deepEqual(told(mode, { mode: 5 }), ["mode must be one of on, off"]);
  const nested = fields({ rule: { anyOf: [{ type: "string" }, fields({ limit: { type: "integer" } })] } });
  assert.deepEqual(told(nested, { rule: { limit: "x" } }), ["rule.limit must be a whole number"]);
});
