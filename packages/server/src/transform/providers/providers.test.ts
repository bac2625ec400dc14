/** Every fixture of every provider goes the whole way: request, body, sandbox, event. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, describe, it } from "node:test";
import { canonicalHeaders, eventNameFault, parseQuery } from "@inlet/protocol";
import { readRequestBody } from "../body/request-body.ts";
import { testRunner } from "../run-for-test.ts";
import { PROVIDERS, type ProviderFixture, readProviderFixtures, readProviderTransform } from "./index.ts";

const { runner, event } = testRunner();
after(() => runner.stop());

for (const { id, title, signatureHeader } of PROVIDERS) {
  describe(title, async () => {
    const source = await readProviderTransform(id);
    const fixtures = await readProviderFixtures(id);

    it("has a source that says what it does, and fixtures", async () => {
      assert.match(source, /^\/\/ /);
      assert.deepEqual(await runner.check(source), { ok: true });
      assert.ok(fixtures.length >= 2);
    });

    for (const fixture of fixtures) {
      it(fixture.title, async () => {
        const { sent, raw } = await become(source, fixture);
        assert.deepEqual(sent, withRaw(fixture.event, raw));
        assert.equal(eventNameFault(sent.name), null);
        assert.ok(sent.ts === undefined || Number.isSafeInteger(sent.ts));
        assert.ok(sent.id === undefined || typeof sent.id === "string");
      });
    }

    it("hands on the signature and what it was computed over", async () => {
      const signed = fixtures.find(({ request }) => canonicalHeaders(Object.entries(request.headers).flat())[signatureHeader ?? ""]);
      assert.ok(signed && signatureHeader);
      const { sent, raw } = await become(source, signed);
      const signature = canonicalHeaders(Object.entries(signed.request.headers).flat())[signatureHeader];
      const text = JSON.stringify(sent.data);
      assert.ok(text.includes(JSON.stringify(signature)));
      assert.ok(text.includes(JSON.stringify(raw)));
    });
  });
}

it("each folder is in the list, and the list leads nowhere else", async () => {
  const folders = readdirSync(new URL(".", import.meta.url), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(folders.map(({ name }) => name).sort(), PROVIDERS.map(({ id }) => id).sort());
  assert.throws(() => readProviderTransform("../../../../package.json"), /there is no provider/);
});

async function become(source: string, { request }: ProviderFixture) {
  const headers = canonicalHeaders(Object.entries(request.headers).flat());
  const raw = request.text ?? JSON.stringify(request.json);
  const result = await readRequestBody({ bytes: Buffer.from(raw), contentType: headers["Content-Type"], bytesMax: 524_288 });
  assert.ok(result.ok);
  return { raw, sent: await event(source, { ...result.body, headers, queryParams: parseQuery(request.query ?? "") }) };
}

function withRaw(expected: unknown, raw: string): unknown {
  return JSON.parse(JSON.stringify(expected), (_key, value) => (value === "{{raw}}" ? raw : value));
}
