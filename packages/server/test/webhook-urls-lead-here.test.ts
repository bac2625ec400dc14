/** The URL of a webhook has a secret in it: no header that a client can write makes it lead elsewhere. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "./support/both-stores.ts";
import { API_KEY, startTestService, type TestService } from "./support/service.ts";
import { makeWebhook } from "./support/webhooks.ts";

/** The origin of the webhook's URL, as a client sees it that sends these headers. */
function originShown(service: TestService, id: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { headers: { authorization: `Bearer ${API_KEY}`, ...headers } };
    request(`${service.url}/v1/webhooks/${id}`, options, async (response) => {
      const body = Buffer.concat((await response.toArray()) as Buffer[]).toString();
      resolve(new URL(JSON.parse(body).data.url).origin);
    })
      .on("error", reject)
      .end();
  });
}

test("a forged Host, or one that only a proxy may set, is not believed", async (t) => {
  const service = await startTestService(t);
  const { id } = await makeWebhook(service);
  const { port } = new URL(service.url);
  for (const headers of [
    { host: "evil.example" },
    { host: "localhost.evil.example" },
    { "x-forwarded-host": "evil.example" },
    { host: "10.9.8.7" },
  ])
    assert.equal(await originShown(service, id, headers as Record<string, string>), service.url, JSON.stringify(headers));
  assert.equal(await originShown(service, id, {}), service.url);
  assert.equal(await originShown(service, id, { host: `localhost:${port}` }), `http://localhost:${port}`);
});

test("what a trusted proxy passes on is believed, and --public-url wins over everything", async (t) => {
  const proxied = await startTestService(t, { flags: ["--trust-proxy", "127.0.0.1"] });
  const { id } = await makeWebhook(proxied);
  const headers = { "x-forwarded-host": "inlet.example.com", "x-forwarded-proto": "https" };
  assert.equal(await originShown(proxied, id, headers), "https://inlet.example.com");
  const known = await startTestService(t, { flags: ["--trust-proxy", "127.0.0.1", "--public-url", "https://hooks.example.com"] });
  assert.equal(await originShown(known, (await makeWebhook(known)).id, headers), "https://hooks.example.com");
});
