/** Every fixture of every provider goes the whole way: signed as the provider signs, handshake, verification, body, sandbox, event. */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, describe, it } from "node:test";
import { canonicalHeaders, eventNameFault, parseQuery } from "@inlet/protocol";
import {
  CATEGORIES,
  FACTS,
  PROVIDERS,
  type Provider,
  type ProviderFixture,
  readProviderFixtures,
  readProviderTransform,
} from "@inlet/providers";
import { type Authentication, authenticateRequest } from "../../server/src/transform/authenticate-request.ts";
import { readRequestBody } from "../../server/src/transform/body/request-body.ts";
import { testRunner } from "../../server/src/transform/threads/run-for-test.ts";
import { completeVerify, verifySettingFault } from "../../server/src/transform/verify/check-verify.ts";
import { signSample, withoutSignature } from "../../server/src/transform/verify/sign-sample.ts";

const { runner, event } = testRunner();
after(() => runner.stop());

const SECRET = "whsec_c2FtcGxlIHNlY3JldCBvZiBhIHByb3ZpZGVy";
const URL_SIGNED = "https://hooks.example.com/e/whk_sample";
const AT = Date.parse("2026-01-01T00:00:00Z");

for (const provider of PROVIDERS) {
  const { id, title, signatureHeader, verify, secretFrom, handshake } = provider;
  const source = await readProviderTransform(id);
  const fixtures = await readProviderFixtures(id);

  describe(title, () => {
    it("has a source that says what it does, and fixtures", async () => {
      assert.match(source, /^\/\/ /);
      assert.deepEqual(await runner.check(source), { ok: true });
      assert.ok(fixtures.length >= 2, "a sample for each main event");
      assert.equal(new Set(fixtures.map((fixture) => fixture.title)).size, fixtures.length);
      const settings = verify && completeVerify(verify);
      assert.equal(settings && verifySettingFault(settings, [SECRET]), null);
      assert.equal(verify === null || secretFrom !== null || (handshake && "preset" in handshake && handshake.preset === "asana"), true);
      if (handshake && "source" in handshake) assert.deepEqual(await runner.check(handshake.source, "handshake"), { ok: true });
    });

    it("states when it sends again and how long it waits only where a page was found for it", () => {
      assert.ok(Object.keys(provider.source).every((fact) => FACTS.some((known) => known === fact)));
      for (const page of Object.values(provider.source)) {
        const { protocol, hostname } = new URL(page);
        assert.equal(protocol, "https:");
        const isBlog = /\/\/(?:dev\.to|medium\.com)\/|\/blog\//.test(page);
        assert.ok(!isBlog || hostname === URL.parse(provider.documentation ?? "")?.hostname, `${page} is somebody else's blog`);
      }
      for (const fact of ["retries", "timeout"] as const) assert.equal(provider[fact] === null, provider.source[fact] === undefined, fact);
      assert.ok(handshake !== null || provider.source.handshake === undefined);
    });

    it("offers a preset of reconciliation, or says why it does not, and names the page for it", () => {
      const { reconcile, notReconciled } = provider;
      const isAny = id === "generic";
      assert.deepEqual([reconcile === undefined, notReconciled === undefined], isAny ? [true, true] : [!reconcile, Boolean(reconcile)]);
      assert.equal(provider.source.reconcile === undefined, isAny);
      if (notReconciled !== undefined) assert.match(notReconciled, /^[A-Z][^.]*\.(?: [A-Z][^.]*\.)?$/, "one sentence, or two");
    });

    it("has samples that are different events: none is taken for a duplicate of another", () => {
      const ids = fixtures.map(({ event: { id: known } }) => known).filter((known) => known !== undefined);
      assert.equal(new Set(ids).size, ids.length);
    });

    for (const fixture of fixtures) {
      it(fixture.title, async () => {
        const { sent, raw } = await become(source, await admitted({ verify, handshake }, fixture));
        assert.deepEqual(sent, withRaw(fixture.event, raw));
        assert.equal(eventNameFault(sent.name), null);
        assert.ok(sent.ts === undefined || Number.isSafeInteger(sent.ts));
        assert.ok(sent.id === undefined || typeof sent.id === "string");
      });
    }

    if (verify) {
      it("refuses every sample that was changed on the way, or is not signed", async () => {
        for (const fixture of fixtures) {
          const changed = await authentication({ verify, handshake }, fixture, { suffix: " ", signs: true });
          const isCredential: boolean = verify.scheme === "basic" || verify.scheme === "header";
          assert.equal(changed.refused?.code, isCredential ? undefined : "signature_invalid");
          assert.equal(
            (await authentication({ verify, handshake }, fixture, { suffix: "", signs: false })).refused?.code,
            "signature_invalid",
          );
        }
      });
    }

    if (!verify && secretFrom !== null) {
      it("has a handshake that refuses every sample with another secret, and none where there is no secret", async () => {
        for (const fixture of fixtures) {
          const admit = (secrets: string[]): Promise<Authentication> =>
            authentication({ verify, handshake }, fixture, { suffix: "", signs: false, secrets });
          assert.equal((await admit(["another secret"])).refused?.code, "handshake_failed");
          assert.deepEqual(endingOf(await admit([])), {});
        }
      });
    }

    it("hands on the signature and what it was computed over, where a function is to check it", async () => {
      const signed = fixtures.find(({ request }) => canonicalHeaders(Object.entries(request.headers).flat())[signatureHeader ?? ""]);
      if (!signed || !signatureHeader) return;
      const { sent, raw } = await become(source, signed);
      const signature = canonicalHeaders(Object.entries(signed.request.headers).flat())[signatureHeader];
      const text = JSON.stringify(sent.data);
      assert.ok(text.includes(JSON.stringify(signature)));
      assert.ok(text.includes(JSON.stringify(raw)));
    });
  });
}

it("each folder is in the list, and the list leads nowhere else", async () => {
  const folders = readdirSync(new URL("../src/starters/", import.meta.url));
  assert.deepEqual(folders.sort(), PROVIDERS.map(({ id }) => id).sort());
  assert.ok(PROVIDERS.length >= 30);
  assert.deepEqual([...new Set(PROVIDERS.map(({ category }) => category))], [...CATEGORIES]);
  assert.throws(() => readProviderTransform("../../../../package.json"), /there is no provider/);
});

describe("what a provider sends when its webhook is saved", () => {
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const sent: Record<string, { method: string; headers: Record<string, string>; text: string }> = {
    intercom: { method: "HEAD", headers: {}, text: "" },
    trello: { method: "HEAD", headers: {}, text: "" },
    woocommerce: { method: "POST", headers: form, text: "webhook_id=7" },
  };
  for (const [id, { method, headers, text }] of Object.entries(sent)) {
    it(`is answered without a signature: ${id}`, async () => {
      const provider = PROVIDERS.find((one) => one.id === id) as Provider;
      const fixture = { title: "saved", request: { headers, text }, event: { name: "none", data: {} } };
      const { answer } = await authentication(provider, fixture, { suffix: "", signs: false, method });
      assert.equal(answer?.status, 200);
      const signed = await authentication(provider, fixture, { suffix: "&more=1", signs: false });
      assert.equal(signed.refused?.code, "signature_invalid", "anything else is refused");
    });
  }
});

/** What stands before the transform, for a sample that is signed first. */
function authentication(
  { verify, handshake }: Pick<Provider, "verify" | "handshake">,
  { request }: ProviderFixture,
  { suffix, signs, secrets = [SECRET], method = "POST" }: { suffix: string; signs: boolean; secrets?: string[]; method?: string },
): Promise<Authentication> {
  const given = canonicalHeaders(Object.entries(request.headers).flat());
  const bytes = Buffer.from(request.text ?? JSON.stringify(request.json));
  const settings = verify && completeVerify(verify);
  const unsigned = { headers: settings ? withoutSignature(given, settings) : given, query: request.query ?? "", bytes };
  const signed =
    settings && signs ? signSample({ ...unsigned, verify: settings, secret: SECRET, at: AT, urlOf: () => URL_SIGNED }) : unsigned;
  // Without verification, the secrets are those of the handshake.
  const known = settings ? { verify: secrets, handshake: null } : { verify: [], handshake: secrets };
  return authenticateRequest(runner, {
    rules: { verify: settings, handshake, secrets: { ...known, isHandedOver: false } },
    method,
    contentType: given["Content-Type"],
    contentEncoding: undefined,
    bytesMax: 524_288,
    query: signed.query,
    urls: [URL_SIGNED],
    bytes: Buffer.concat([signed.bytes, Buffer.from(suffix)]),
    headers: { ...signed.headers },
    receipt: { at: AT, wasVerified: null },
  });
}

/** What ended the request, if anything did. */
function endingOf({ refused, answer }: Authentication) {
  return { ...(refused && { refused }), ...(answer && { answer }) };
}

async function admitted(provider: Pick<Provider, "verify" | "handshake">, fixture: ProviderFixture): Promise<ProviderFixture> {
  const { refused, answer, isVerified } = await authentication(provider, fixture, { suffix: "", signs: true });
  assert.equal(refused?.message, undefined);
  assert.equal(answer, undefined, "a handshake lets events go on");
  assert.equal(isVerified, provider.verify !== null);
  return fixture;
}

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
