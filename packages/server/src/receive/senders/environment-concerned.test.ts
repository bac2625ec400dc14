import assert from "node:assert/strict";
import { test } from "node:test";
import type { InboundRequest } from "../inbound-request.ts";
import type { Directory } from "./directory.ts";
import { environmentConcerned } from "./environment-concerned.ts";

const ENVIRONMENTS = [
  { id: 1, name: "production", kind: "default" },
  { id: 2, name: "branch", kind: "shared" },
  { id: 3, name: "feature/cart", kind: "branch", archivedAt: null },
  { id: 4, name: "staging", kind: "custom" },
  { id: 5, name: "feature/old", kind: "branch", archivedAt: 1 },
];
const directory = {
  webhookWithToken: (text: string) => ({ hook: { webhook: { environmentId: 4 } }, "branch-hook": { webhook: { environmentId: 2 } } })[text],
  eventKey: (text: string) => ({ key: { environmentId: 4 }, "branch-key": { environmentId: 2 }, api: { environmentId: null } })[text],
  environment: (id: number) => ENVIRONMENTS.find((environment) => environment.id === id),
  environmentNamed: (name: string) => ENVIRONMENTS.find((environment) => environment.name === name),
} as unknown as Directory;

function concerned(keyText: string, named?: string, defaultEnvironment = "production") {
  const headers = named === undefined ? {} : { "x-service-env": named };
  return environmentConcerned(directory, { keyText, headers, query: "" } as InboundRequest, defaultEnvironment);
}

function concernedByQuery(keyText: string, query: string, headers = {}) {
  return environmentConcerned(directory, { keyText, headers, query } as InboundRequest, "production");
}

test("a request concerns the environment of its key or webhook", () => {
  assert.deepEqual([concerned("key"), concerned("hook"), concerned("key", "feature/cart")], [4, 4, 4]);
});

test("with a key that all branches share, it concerns the branch it names", () => {
  assert.deepEqual([concerned("branch-key", "feature/cart"), concerned("branch-hook", "feature/cart")], [3, 3]);
  for (const named of [undefined, "unknown", "staging", "production"]) assert.equal(concerned("branch-key", named), 2, named);
});

test("with a webhook that all branches share, it concerns the branch it is delivered to", () => {
  for (const query of ["x-service-env=feature%2Fcart", "a=b&x%2Dservice%2Denv=feature/cart", "x-inngest-env=feature/cart"])
    assert.equal(concernedByQuery("branch-hook", query), 3, query);
  assert.equal(concernedByQuery("branch-hook", "x-service-env=other", { "x-service-env": "feature/cart" }), 3);
  for (const query of ["", "x-service-env=unknown", "x-service-env=staging", "x-service-env=feature/old"])
    assert.equal(concernedByQuery("branch-hook", query), 2, query);
  assert.equal(concernedByQuery("branch-key", "x-service-env=feature/cart"), 2, "the query of a request with a key is not read");
  assert.equal(concernedByQuery("hook", "x-service-env=feature/cart"), 4);
});

test("what no key opens concerns the default environment", () => {
  assert.deepEqual([concerned("unknown"), concerned("api"), concerned("unknown", "staging")], [1, 1, 1]);
  assert.equal(concerned("unknown", undefined, "none"), null);
});
