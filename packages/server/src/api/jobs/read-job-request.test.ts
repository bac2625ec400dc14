import assert from "node:assert/strict";
import { test } from "node:test";
import type { Environment } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";
import { createRequestReader } from "./read-job-request.ts";

test("the filters of a kind of job are compiled once, however many jobs are asked for", () => {
  let compiled = 0;
  const rules = {
    kind: "things.do",
    filtersRequired: [],
    takesFunction: false,
    takesAll: true,
    get filters() {
      compiled++;
      return { name: { type: "string" }, limit: { type: "integer" } };
    },
  };
  const refuse = () => Promise.reject(new Error("nothing is started here"));
  const read = createRequestReader({ jobs: { kinds: [rules], preview: refuse, create: refuse }, registry: { functions: () => [] } });
  const environment = { name: "production" } as Environment;
  for (let n = 0; n < 100; n++) {
    assert.deepEqual(read(environment, { kind: rules.kind, filter: { name: "a", limit: String(n) } }).filter, { name: "a", limit: n });
    assert.throws(() => read(environment, { kind: rules.kind, filter: { other: 1 } }), RestRefusal);
  }
  assert.equal(compiled, 1);
});
