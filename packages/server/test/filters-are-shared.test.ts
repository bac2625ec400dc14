/** Filters that somebody saves are there for everybody who may see the environment; operators save and remove them. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { startTestService } from "./support/service.ts";

test("filters are saved by operators, used by viewers, in their environment; what cannot be one is refused", async (t) => {
  const service = await startTestService(t);
  const keyOf = async (role: string) => {
    const { body } = await service.rest("POST", "/keys", { body: { kind: "api", name: role, role } });
    return { authorization: `Bearer ${body.data.key}` };
  };
  const [viewer, operator] = [await keyOf("viewer"), await keyOf("operator")];
  const filter = { list: "runs", name: "failed today", search: { status: "failed", q: "jane@example.com", from: 5 } };
  const put = (body: object, headers = operator) => service.rest("PUT", "/saved-filters", { body, headers });
  assert.equal((await put(filter, viewer)).body.code, "role_forbidden");
  const saved = await put(filter);
  assert.deepEqual([saved.status, saved.body.data.savedBy], [200, "operator"]);
  assert.equal((await put({ ...filter, list: "events", search: {} })).status, 200);
  const list = (headers: Record<string, string>, query = "") => service.rest("GET", `/saved-filters${query}`, { headers });
  const { data } = (await list(viewer, "?list=runs")).body;
  assert.deepEqual([data.length, data[0].name, data[0].search], [1, filter.name, filter.search]);
  assert.equal((await list(viewer)).body.data.length, 2);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  assert.deepEqual((await list({ ...viewer, "x-service-env": "staging" })).body.data, []);

  for (const wrong of [
    { list: "keys" },
    { name: "" },
    { name: "n".repeat(61) },
    { search: { q: ["a"] } },
    { search: { q: { deep: 1 } } },
    { search: { q: "x".repeat(5_000) } },
    { search: "status=failed" },
    { more: 1 },
  ])
    assert.equal((await put({ ...filter, ...wrong })).status, 400, JSON.stringify(wrong).slice(0, 80));

  const path = `/saved-filters/runs/${encodeURIComponent(filter.name)}`;
  assert.equal((await service.rest("DELETE", path, { headers: viewer })).body.code, "role_forbidden");
  assert.equal((await service.rest("DELETE", path, { headers: operator })).status, 200);
  assert.equal((await service.rest("DELETE", path, { headers: operator })).body.code, "saved_filter_not_found");
  const audit = await service.rest("GET", "/audit-log?action=saved_filter.*");
  assert.equal(audit.body.data.length, 3);
  assert.ok(!audit.text.includes("jane@"), "the text of a filter may be what is to be forgotten");
});
