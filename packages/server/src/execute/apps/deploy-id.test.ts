import assert from "node:assert/strict";
import { test } from "node:test";
import { readDeployId, writeDeployId } from "./deploy-id.ts";

test("the id of a sync carries its scope", () => {
  for (const scope of [
    { home: "staging", environments: ["staging", "branch"] },
    { home: "feature/ä", environments: null },
  ]) {
    const id = writeDeployId("01J0000000000000000000000A", scope);
    assert.deepEqual(readDeployId(id), scope);
    assert.equal(encodeURIComponent(id), id, "it needs no escaping in a URL");
  }
});

test("anything else is no id of a sync", () => {
  const encoded = (value: unknown) => `01J.${Buffer.from(JSON.stringify(value)).toString("base64url")}`;
  const others = [
    "",
    "undefined",
    "01J0000000000000000000000A",
    "01J.e30",
    "01J.%",
    ...[null, 1, {}, ["a"], [1, null], ["a", [1]], ["a", "b"]].map(encoded),
  ];
  for (const text of others) assert.equal(readDeployId(text), null, text);
});
