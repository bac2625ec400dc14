/**
 * People decide: by the page of an approval, by REST, for a step of `step.waitForApproval` and for a signal. A decision is made at most
 * once, the run gets exactly the decision that was made, and whatever else ends an approval is shown.
 */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { NonRetriableError } from "@inlet/sdk";
import { poll, type RunView, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { API_KEY, call, SIGNING_KEY, startTestService, type TestService } from "./support/service.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

const WHOLE = /^http:\/\/[^/]+\/approve\/[0-9A-Z]{26}\/[\w-]{22}$/;
const MASKED = /^http:\/\/[^/]+\/approve\/[0-9A-Z]{26}\/…$/;

async function startScene(t: TestContext) {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => [
    inlet.createFunction(
      { id: "deploy", name: "Deploy <b>", cancelOn: [{ event: "ci/stopped" }] },
      { event: "ci/built" },
      ({ event, step }) =>
        step.waitForApproval("ask", { prompt: "Deploy <b>v1</b>?", data: { tag: "<i>" }, timeout: "1h", ...event.data.options }),
    ),
    inlet.createFunction({ id: "refund" }, { event: "shop/refund" }, async ({ event, step }) => {
      if (event.data.first) await step.waitForEvent("first", { event: "shop/first", timeout: "1h" });
      return step.waitForSignal("wait", { signal: event.data.signal, timeout: "1h" });
    }),
    inlet.createFunction({ id: "post" }, { event: "inlet/approval.requested" }, ({ event }) => event.data),
    inlet.createFunction({ id: "mail" }, { event: "mail/asked" }, ({ event }) => {
      throw new NonRetriableError(`cannot mail ${event.data.url}`);
    }),
  ]);
  return service;
}

/** The run of the event, once it waits. */
async function waiting(service: TestService, name: string, data: object): Promise<{ run: RunView; ended(): Promise<RunView> }> {
  const { body } = await service.send({ name, data });
  const [run] = await runsOf(service, body.ids[0], { until: ({ status }) => status === "waiting" });
  return { run, ended: async () => (await runsOf(service, body.ids[0]))[0] };
}

const decideByPage = (url: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  call(url, { method: "POST", body: new URLSearchParams(form), headers });

const ask = (service: TestService, body: object, headers: Record<string, string> = {}) =>
  service.rest("POST", "/approvals", { body: { prompt: "Refund?", timeout: "1h", ...body }, headers });

const decide = (service: TestService, id: string, body: object) => service.rest("POST", `/approvals/${id}`, { body });

async function eventsNamed(service: TestService, name: string, count: number): Promise<{ id: string; data: Record<string, unknown> }[]> {
  return poll(async () => {
    const { data } = (await service.rest("GET", `/events?name=${name}&limit=100`)).body;
    return data.length >= count ? data : null;
  }, `${count} of ${name}`);
}

test("a step asks, its page decides once, and the run gets that decision", async (t) => {
  const service = await startScene(t);
  const { run, ended } = await waiting(service, "ci/built", {});
  const [step] = run.steps;
  assert.deepEqual([step.kind, step.status], ["approval", "waiting"]);
  assert.match(step.url, WHOLE);

  const [requested] = await eventsNamed(service, "inlet/approval.requested", 1);
  const asked = { id: step.approvalId, url: step.url, prompt: "Deploy <b>v1</b>?", data: { tag: "<i>" }, signal: null };
  const link = new URL(String(requested?.data.url)).pathname;
  assert.equal(link, new URL(step.url).pathname);
  assert.deepEqual({ ...requested?.data, url: step.url }, { ...asked, runId: run.id, expiresAt: step.until });
  assert.deepEqual((await runsOf(service, String(requested?.id)))[0].output.id, step.approvalId, "a function can post the link");

  const shown = await call(step.url);
  assert.equal(shown.status, 200);
  assert.equal(shown.headers.get("content-type"), "text/html; charset=utf-8");
  for (const text of ["Deploy &lt;b&gt;v1&lt;/b&gt;?", "&lt;i&gt;", "Deploy &lt;b&gt;", "shop", run.id, 'name="decision" value="approved"'])
    assert.ok(shown.text.includes(text), text);
  assert.ok(!/<b>|<i>|<script/.test(shown.text));
  assert.equal((await service.rest("GET", `/approvals/${step.approvalId}`)).body.data.status, "open", "looking decides nothing");

  const done = await decideByPage(step.url, { decision: "approved", comment: " fine\r\nby me " });
  assert.equal(done.status, 200, done.text);
  const answer = { decision: "approved", by: "link", comment: "fine\nby me", data: null };
  assert.deepEqual((await ended()).output, answer);
  const again = await decideByPage(step.url, { decision: "rejected" });
  assert.equal(again.status, 409);
  assert.ok(again.text.includes("approval_ended"));
  const byRest = await decide(service, step.approvalId, { decision: "rejected" });
  assert.deepEqual([byRest.status, byRest.body.code], [409, "approval_ended"]);
  assert.equal(byRest.body.error, "The approval was already decided: approved.");
  const after = await call(step.url);
  assert.equal(after.status, 200);
  assert.ok(!after.text.includes("v1") && !after.text.includes("<form"), "what was asked is not shown any more");

  const decided = await eventsNamed(service, "inlet/approval.decided", 1);
  assert.deepEqual(
    decided.map(({ data }) => data),
    [{ id: step.approvalId, ...answer, runId: run.id }],
  );
  const { data } = (await service.rest("GET", `/approvals?status=approved`)).body;
  assert.deepEqual([data.length, data[0].by, data[0].function.name, data[0].app], [1, "link", "Deploy <b>", "shop"]);
  const [entry] = (await service.rest("GET", "/audit-log?action=approval.*")).body.data;
  assert.deepEqual([entry.action, entry.actor.name, entry.details.decision], ["approval.decided", "link", "approved"]);
});

test("an approval over REST answers a signal, before or after the run waits, with the name of the key", async (t) => {
  const service = await startScene(t);
  const first = await waiting(service, "shop/refund", { signal: "refund 1" });
  const { status, body } = await ask(service, { signal: "refund 1", data: { amount: 42 } });
  assert.equal(status, 201);
  const { id, url, runId } = body.data;
  assert.deepEqual([body.data.status, runId], ["open", first.run.id]);
  assert.match(url, WHOLE);
  assert.equal((await service.rest("GET", `/runs/${runId}`)).body.data.steps[0].url, url, "the step shows it, too");
  const taken = await ask(service, { signal: "refund 1" });
  assert.deepEqual([taken.status, taken.body.code], [409, "approval_exists"]);
  const made = await decide(service, id, { decision: "rejected", comment: "no", data: { code: 7 } });
  assert.deepEqual([made.status, made.body.data.status, made.body.data.decisionData], [200, "rejected", { code: 7 }]);
  const name = (await service.rest("GET", "/keys?limit=100")).body.data.find(({ kind }: { kind: string }) => kind === "api").name;
  assert.equal(made.body.data.by, name);
  const rejected = { decision: "rejected", by: name, comment: "no", data: { code: 7 } };
  assert.deepEqual((await first.ended()).output, { signal: "refund 1", data: rejected });

  const early = await ask(service, { signal: "refund 2" }, { authorization: `Bearer ${SIGNING_KEY}` });
  assert.deepEqual([early.status, early.body.data.runId], [201, null]);
  assert.match(early.body.data.url, WHOLE, "an app posts the link");
  assert.equal((await decideByPage(early.body.data.url, { decision: "approved" })).status, 200);
  const { body: sent } = await service.send({ name: "shop/refund", data: { signal: "refund 2" } });
  const [late] = await runsOf(service, sent.ids[0]);
  assert.deepEqual(late.output.data, { decision: "approved", by: "link", comment: null, data: null }, "the decision was kept");
  const kept = (await service.rest("GET", `/approvals/${early.body.data.id}`)).body.data;
  assert.deepEqual([kept.runId, kept.status], [late.id, "approved"]);

  for (const [body, field] of [
    [{ signal: "x", timeout: "never" }, "timeout"],
    [{ signal: "x", timeout: "2001-01-01" }, "timeout"],
    [{ signal: "x", timeout: new Date(Date.now() + 86_400_000 * 30).toDateString() }, "timeout"],
    [{ signal: "", timeout: "1h" }, "signal"],
    [{ signal: "x", prompt: " " }, "prompt"],
    [{ signal: "x", prompt: "x".repeat(2_001) }, "prompt"],
    [{ signal: "x", data: "x".repeat(70_000) }, "data"],
    [{ signal: "x", extra: 1 }, "extra"],
  ] as const) {
    const { status, body: refused } = await ask(service, body);
    assert.deepEqual([status, refused.details?.[0]?.field], [400, field], JSON.stringify(refused));
  }
  assert.equal((await decide(service, id, { decision: "maybe" })).status, 400);
  const umlauts = (count: number) => `{"signal":"x","prompt":"p","timeout":"1h","data": [ "${"\\u00fc".repeat(count)}" ] }`;
  const tooLong = await service.rest("POST", "/approvals", { body: umlauts(65_533) });
  assert.match(tooLong.text, /data must have at most 65536 characters as compact JSON, this has 65537/);
  const longest = await service.rest("POST", "/approvals", { body: umlauts(65_532) });
  assert.equal(longest.status, 201, "neither escapes nor space count");
  assert.equal(longest.body.data.data[0].length, 65_532);
  const replaced = `{"signal":"y","prompt":"p","timeout":"1h","data":{"a":${"[".repeat(200_000)}${"]".repeat(200_000)},"a":1}}`;
  const short = await service.rest("POST", "/approvals", { body: replaced });
  const stored = (await service.rest("GET", `/approvals/${short.body.data.id}`)).text;
  assert.ok(short.status === 201 && stored.length < 10_000, "what does not count is not stored either");
  const hidden = `{"signal":"z","prompt":"p","timeout":"1h","data":{"a":${"[".repeat(30_000)}${"]".repeat(30_000)},"a":1}}`;
  const { body: hides } = await service.rest("POST", "/approvals", { body: hidden });
  assert.equal((await call(hides.data.url)).status, 200, "depth that parsing does not see");
  await service.rest("POST", "/environments", { body: { name: "old" } });
  await service.rest("POST", "/environments/old/archive");
  assert.equal((await ask(service, { signal: "x" }, { "x-service-env": "old" })).body.code, "environment_not_found");
  const deep = `${"[".repeat(90)}${Array(20_000).fill(1)}${"]".repeat(90)}`;
  const { run: odd } = await waiting(service, "ci/built", { options: { data: JSON.parse(deep) } });
  const page = await call(odd.steps[0].url);
  assert.ok(page.status === 200 && page.text.length < 100_000, "data of any depth is shown, and not made much longer");
  assert.deepEqual((await decide(service, "01ARZ3NDEKTSV4RRFFQ69G5FAV", { decision: "approved" })).body.code, "approval_not_found");
});

test("the page, REST, events and the run have the numbers of an approval as they were written", async (t) => {
  const service = await startScene(t);
  const { run, ended } = await waiting(service, "shop/refund", { signal: "exact" });
  const data = '{ "account": 12345678901234567890, "list": [1E400, {}, []], "city": "Z\\u00fcrich" }';
  const body = `{"signal": "exact", "prompt": "Refund?", "timeout": "1h", "data": ${data}}`;
  const asked = await service.rest("POST", "/approvals", { body });
  assert.equal(asked.status, 201, asked.text);
  const { id, url } = asked.body.data;
  for (const path of [`/approvals/${id}`, "/approvals", "/events?name=inlet/approval.requested"])
    assert.ok((await service.rest("GET", path)).text.includes(data), path);
  const indented = [
    "{",
    '  "account": 12345678901234567890,',
    '  "list": [',
    "    1E400,",
    "    {},",
    "    []",
    "  ],",
    '  "city": "Zürich"',
    "}",
  ];
  const page = await call(url);
  assert.ok(page.text.includes(`<pre>${indented.join("\n").replaceAll('"', "&quot;")}</pre>`), page.text);

  const decision = '{"decision": "approved", "data": {"account": 12345678901234567891}}';
  const decided = await service.rest("POST", `/approvals/${id}`, { body: decision });
  assert.match(decided.text, /"decisionData":\s?\{"account":\s?12345678901234567891\}/);
  await ended();
  assert.match((await service.rest("GET", `/runs/${run.id}`)).text, /"account":\s?12345678901234567891/);
});

test("a timeout and the end of a run end an approval, and a second click is asked for if the function says so", async (t) => {
  const service = await startScene(t);
  const short = await service.send({ name: "ci/built", data: { options: { timeout: "1s" } } });
  const [over] = await runsOf(service, short.body.ids[0]);
  assert.equal(over.output, null);
  const late = await decideByPage(over.steps[0].url, { decision: "approved" });
  assert.ok(late.status === 409 && late.text.includes("approval_ended"), late.text);
  const expired = (await service.rest("GET", "/approvals?status=expired")).body.data;
  assert.deepEqual(
    expired.map(({ runId }: { runId: string }) => runId),
    [over.id],
  );

  const tooLate = await decide(service, over.steps[0].approvalId, { decision: "approved" });
  assert.deepEqual([tooLate.status, tooLate.body.error], [409, "The approval has expired: nobody decided in time."]);

  const stopped = await waiting(service, "ci/built", {});
  const byHand = await waiting(service, "ci/built", {});
  await service.rest("POST", `/runs/${byHand.run.id}/cancel`);
  const { body } = await decide(service, byHand.run.steps[0].approvalId, { decision: "approved" });
  assert.deepEqual([body.code, body.error], ["approval_ended", "The approval was cancelled: the run that asked has ended."]);
  await service.send({ name: "ci/stopped", data: {} });
  await stopped.ended();
  const cancelled = (await service.rest("GET", "/approvals?status=cancelled")).body.data;
  assert.deepEqual(cancelled.map(({ runId }: { runId: string }) => runId).sort(), [stopped.run.id, byHand.run.id].sort());
  assert.equal((await eventsNamed(service, "inlet/approval.requested", 3)).length, 3);
  assert.deepEqual((await service.rest("GET", "/events?name=inlet/approval.decided")).body.data, []);

  const careful = await waiting(service, "ci/built", { options: { confirmReject: true } });
  const { url, approvalId } = careful.run.steps[0];
  const asked = await decideByPage(url, { decision: "rejected", comment: 'no "way"' });
  assert.equal(asked.status, 200);
  assert.ok(asked.text.includes('name="confirm" value="yes"') && asked.text.includes("no &quot;way&quot;"), asked.text);
  assert.equal((await service.rest("GET", `/approvals/${approvalId}`)).body.data.status, "open");
  assert.equal((await decideByPage(url, { decision: "rejected", comment: "no", confirm: "yes" })).status, 200);
  assert.deepEqual((await careful.ended()).output, { decision: "rejected", by: "link", comment: "no", data: null });
});

test("no other site, preview or guess decides, and whoever may not see webhook URLs sees no token", async (t) => {
  const service = await startScene(t);
  const { run, ended } = await waiting(service, "ci/built", {});
  const { url, approvalId } = run.steps[0];
  const page = await call(url);
  const policy = page.headers.get("content-security-policy") ?? "";
  for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
    assert.ok(policy.includes(part), part);
  const wanted = {
    "cache-control": "no-store",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "x-robots-tag": "noindex, nofollow",
  };
  for (const [name, value] of Object.entries(wanted)) assert.equal(page.headers.get(name), value, name);
  for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]) await call(`${url}?decision=approved`, { method });
  for (const headers of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
  ] as Record<string, string>[]) {
    const { status, text } = await decideByPage(url, { decision: "approved" }, headers);
    assert.ok(status === 403 && text.includes("origin_forbidden"), text);
  }
  assert.equal((await decideByPage(url, { decision: "yes" })).status, 400);
  const both = new URLSearchParams("decision=approved&decision=rejected");
  assert.equal((await call(url, { method: "POST", body: both })).status, 400, "two decisions are none");
  assert.equal((await decideByPage(url, { decision: "approved", comment: "x".repeat(2_001) })).status, 400);
  const json = { method: "POST", body: '{"decision":"approved"}', headers: { "content-type": "application/json" } };
  assert.equal((await call(url, json)).status, 415);
  for (const wrong of [
    `${url.slice(0, -1)}${url.endsWith("A") ? "Q" : "A"}`,
    url.slice(0, -1),
    `${url}A`,
    url.replace(approvalId, "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
  ]) {
    const { status, text } = await decideByPage(wrong, { decision: "approved" });
    assert.ok(status === 404 && text.includes("approval_not_found"), text);
  }

  const token = url.split("/").at(-1) as string;
  const keyOf = async (role: string, environments?: string[]) => {
    const key = { kind: "api", name: `the ${role}`, role, ...(environments && { environments }) };
    return { authorization: `Bearer ${(await service.rest("POST", "/keys", { body: key })).body.data.key}` };
  };
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const [viewer, operator, elsewhere] = [await keyOf("viewer"), await keyOf("operator"), await keyOf("admin", ["staging"])];
  const reads = ["/approvals", `/approvals/${approvalId}`, `/runs/${run.id}`, "/events?name=inlet/*", "/runs"];
  for (const headers of [viewer, operator]) {
    for (const path of reads) assert.ok(!(await service.rest("GET", path, { headers })).text.includes(token), path);
    assert.match((await service.rest("GET", `/approvals/${approvalId}`, { headers })).body.data.url, MASKED);
  }
  for (const query of [`q=${token.slice(0, 4)}`, `where=${encodeURIComponent(`data.id == "${approvalId}"`)}`])
    assert.deepEqual((await service.rest("GET", `/events?${query}`, { headers: viewer })).body.data, [], "nor finds it out");
  await onlySeersFind(service, viewer, { approvalId, token, url });
  assert.ok((await service.rest("GET", "/events?name=inlet/*")).text.includes(token), "an admin sees it");
  const body = { decision: "approved" };
  assert.equal((await service.rest("POST", `/approvals/${approvalId}`, { body, headers: viewer })).body.code, "role_forbidden");
  const here = { ...elsewhere, "x-service-env": "production" };
  assert.equal((await service.rest("POST", `/approvals/${approvalId}`, { body, headers: here })).body.code, "environment_forbidden");
  for (const headers of [elsewhere, { ...elsewhere, "x-service-env": "staging" }])
    assert.equal((await service.rest("POST", `/approvals/${approvalId}`, { body, headers })).body.code, "approval_not_found");
  const app = { authorization: `Bearer ${SIGNING_KEY}` };
  assert.equal((await service.rest("POST", `/approvals/${approvalId}`, { body, headers: app })).status, 401, "apps ask, and do not decide");
  assert.equal(
    (await service.rest("GET", `/approvals/${approvalId}`, { headers: { authorization: `Bearer ${API_KEY}` } })).body.data.status,
    "open",
  );
  assert.equal((await service.rest("POST", `/approvals/${approvalId}`, { body, headers: operator })).status, 200);
  assert.equal((await ended()).output.by, "the operator");
});

/** Neither the entries of a page nor its cursor tell whether there is more text of a token: it cannot be found out character by character. */
async function onlySeersFind(
  service: TestService,
  viewer: Record<string, string>,
  { approvalId, token, url }: Record<"approvalId" | "token" | "url", string>,
): Promise<void> {
  const sent = (await service.send({ name: "mail/asked", data: { url, approvalId } })).body.ids[0];
  await runsOf(service, sent, { until: ({ status }) => status === "failed" });
  const found = async (path: string, where: string, headers: Record<string, string>) => {
    const { body } = await service.rest("GET", `${path}where=${encodeURIComponent(where)}`, { headers });
    return { count: body.data.length as number, hasMore: body.page.next !== null };
  };
  const guess = (text: string) => `(has(data.url) && data.url.contains("${approvalId}/${text}")) || name == "ci/built"`;
  const [right, wrong] = [guess(token.slice(0, 4)), guess(`${token[0] === "A" ? "B" : "A"}${token.slice(1, 4)}`)];
  for (const path of ["/events?limit=1&", "/runs?limit=1&"]) {
    const [hidden, shown] = [await found(path, wrong, viewer), await found(path, right, {})];
    assert.deepEqual(
      [hidden, shown],
      [
        { count: 1, hasMore: false },
        { count: 1, hasMore: true },
      ],
      path,
    );
    assert.deepEqual(await found(path, right, viewer), hidden, path);
  }
  const webhook = await makeWebhook(service);
  await post(webhook.url, { response_to: url });
  const part = `${approvalId}/${token.slice(0, 4)}`;
  for (const path of [`/runs?error=${part}`, `/failures?q=${part}`, `/webhooks/${webhook.id}/requests?q=${part}`]) {
    const count = async (headers: Record<string, string>) => (await service.rest("GET", path, { headers })).body.data.length;
    assert.deepEqual([await count({}), await count(viewer)], [1, 0], path);
  }
  const followed = await fetch(`${service.url}/v1/webhooks/${webhook.id}/requests/stream?from=1`, { headers: viewer });
  let text = "";
  for await (const chunk of followed.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes("response_to")) break;
  }
  assert.ok(text.includes(approvalId) && !text.includes(token), "the stream of requests shows no token either");
}
