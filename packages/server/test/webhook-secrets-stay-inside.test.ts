/**
 * A transform reads the headers of its requests, and with them the secrets of the schemes `header` and `basic`. Whatever it prints or throws:
 * no response, record, log, terminal line, audit log or metric contains a secret, in any usual form.
 */

import assert from "node:assert/strict";
import { pino } from "pino";
import { test } from "./support/both-stores.ts";
import { until } from "./support/runs.ts";
import { API_KEY, call, startTestService } from "./support/service.ts";
import { makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const SECRET = 'super-secret"1234';
const BASIC = Buffer.from(`u:${SECRET}`).toString("base64");
const FORMS = [SECRET, JSON.stringify(SECRET).slice(1, -1), BASIC, Buffer.from(SECRET).toString("hex")];

const SCHEMES = [
  { verify: { scheme: "header", header: "X-Token" }, headers: { "x-token": SECRET } },
  { verify: { scheme: "basic", user: "u" }, headers: { authorization: `Basic ${BASIC}` } },
];
/** What the transform makes of the credential `c`. */
const ENDINGS = [
  { source: "throw new Error('auth ' + c)", code: "transform_failed" },
  { source: "return { name: 'inlet/' + c, data: {} }", code: "transform_invalid_event" },
  { source: "return { name: c, data: {} }", code: "event_name_denied" },
];

test("nothing that a transform prints or throws shows a secret", async (t) => {
  const shown: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => void shown.push(line) });
  const service = await startTestService(t, { log, showLine: (line) => shown.push(line) });
  for (const { verify, headers } of SCHEMES) {
    for (const { source, code } of ENDINGS) {
      const transform = `function transform(evt, h) {
        const c = h['X-Token'] ?? h.Authorization;
        const secret = h['X-Token'] ?? atob(c.slice(6));
        const hex = [...secret].map((letter) => letter.charCodeAt(0).toString(16)).join('');
        console.log(c); console.log(JSON.stringify({ p: secret })); console.log(hex);
        ${source};
      }`;
      const eventNames = { mode: "allow", list: ["only/this"] };
      const webhook = await makeWebhook(service, transform, { verify: { ...verify, secrets: [SECRET] }, eventNames });
      const answer = await post(webhook.url, {}, headers);
      assert.deepEqual([answer.status, answer.body.code], [code === "event_name_denied" ? 403 : 400, code], answer.text);
      const [record] = await requestsOf(service, webhook);
      assert.equal(record.logs.length, 3);
      if (code !== "transform_invalid_event") assert.match(record.error, /\*\*\*/);
      assert.equal(record.error, answer.body.error);
      shown.push(answer.text, JSON.stringify(record));
    }
  }
  await until("the terminal's lines", async () => shown.filter((line) => line.includes("refused")).length >= 6 || undefined);
  const audit = await service.rest("GET", "/audit-log");
  const metrics = await call(`${service.url}/metrics`, { headers: { authorization: `Bearer ${API_KEY}` } });
  assert.deepEqual([audit.status, metrics.status], [200, 200]);
  shown.push(audit.text, metrics.text);
  for (const text of shown) {
    for (const form of FORMS) assert.ok(!text.includes(form) && !text.includes(JSON.stringify(form).slice(1, -1)), text);
  }
});
