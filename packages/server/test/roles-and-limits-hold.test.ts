/** API keys: what each role may call, and how a key stays within the environments it is limited to. */

import assert from "node:assert/strict";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { type Answer, call, startTestService, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook, post } from "./support/webhooks.ts";

const code = ({ status, body }: Answer) => [status, body?.code];

async function makeApiKey(service: TestService, extra: object) {
  const { status, body } = await service.rest("POST", "/keys", { body: { kind: "api", name: "k", ...extra } });
  assert.equal(status, 201, JSON.stringify(body));
  const headers = { authorization: `Bearer ${body.data.key}` };
  const rest: TestService["rest"] = (method, path, options = {}) =>
    service.rest(method, path, { ...options, headers: { ...headers, ...options.headers } });
  return { ...body.data, rest, headers };
}

/** Every operation of the document, called with ids that do not exist: whether the role is let through is decided before. */
async function operations(service: TestService): Promise<[method: string, path: string][]> {
  const { body } = await call(`${service.url}/v1/openapi.json`);
  return Object.entries(body.paths as Record<string, Record<string, { security?: unknown[] }>>).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security?.length !== 0)
      .map(([method]): [string, string] => [method.toUpperCase(), path.slice(3)]),
  );
}

async function isLetThrough(
  rest: TestService["rest"],
  service: TestService,
  method: string,
  path: string,
  headers: Record<string, string>,
) {
  const url = path.replace(/\{\w+\}/g, "none");
  if (!path.endsWith("/stream")) return (await rest(method, url)).body.code !== "role_forbidden";
  const controller = new AbortController();
  const { status } = await fetch(`${service.url}/v1${url}`, { headers, signal: controller.signal });
  controller.abort();
  return status !== 403;
}

test(
  "roles and limits",
  onOneService({
    "the role read may only read; ingest-admin has webhooks, transforms and reading events": async (service) => {
      const read = await makeApiKey(service, { role: "read" });
      const ingest = await makeApiKey(service, { role: "ingest-admin" });
      const all = await operations(service);
      const forIngest = (method: string, path: string) =>
        /^\/(webhooks|transforms|session$|event-schemas|event-types\/\{name\}($|\/check$))/.test(path) ||
        (method === "GET" &&
          /^\/(events($|\/\{id\}$|\/stream)|event-types(?!\/\{name\}\/waiting)|environments(\/\{name\})?$|stats|usage$)/.test(path));
      const forRead = (method: string, path: string) => method === "GET" || path === "/session";
      assert.ok(all.length > 20);
      for (const [method, path] of all) {
        const name = `${method} ${path}`;
        assert.equal(
          await isLetThrough(ingest.rest, service, method, path, ingest.headers),
          forIngest(method, path),
          `ingest-admin: ${name}`,
        );
        assert.equal(await isLetThrough(read.rest, service, method, path, read.headers), forRead(method, path), `read: ${name}`);
      }
      const webhook = await ingest.rest("POST", "/webhooks", { body: { name: "w", transform: ECHO } });
      assert.equal(webhook.status, 201);
      assert.deepEqual(code(await ingest.rest("GET", "/keys")), [403, "role_forbidden"]);
    },

    "operator reads and repairs, viewer reads, metrics does neither, owner does everything": async (service) => {
      const rules: Record<string, (method: string, path: string) => boolean> = {
        owner: () => true,
        operator: (method, path) =>
          method === "GET" ||
          (method === "POST" && REPAIRS.test(path)) ||
          /^\/(session$|signals$|alert-rules|saved-filters|approvals|failures$|functions\/\{id\}\/limits$)/.test(path),
        viewer: (method, path) => method === "GET" || path === "/session",
        metrics: (_method, path) => path === "/session",
      };
      const all = await operations(service);
      for (const [role, rule] of Object.entries(rules)) {
        const key = await makeApiKey(service, { role });
        for (const [method, path] of all) {
          assert.equal(await isLetThrough(key.rest, service, method, path, key.headers), rule(method, path), `${role}: ${method} ${path}`);
        }
      }
    },

    "a key that may only read does not learn the URLs of webhooks, which would let it send": async (service) => {
      const { id, url } = await makeWebhook(service);
      const read = await makeApiKey(service, { role: "read" });
      const token = url.split("/").at(-1) as string;
      for (const path of ["/webhooks", `/webhooks/${id}`]) {
        const { status, text } = await read.rest("GET", path);
        assert.equal(status, 200);
        assert.ok(!text.includes(token), path);
      }
    },

    "a limited key reaches its environments and nothing else": async (service) => {
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      const elsewhere = await makeWebhook(service);
      await post(elsewhere.url);
      const key = await makeApiKey(service, { environments: ["staging"] });
      assert.deepEqual([key.role, key.environments], ["admin", ["staging"]]);
      const staging = { headers: { "x-service-env": "staging" } };

      assert.equal((await key.rest("GET", "/events", staging)).status, 200);
      const production = { "x-service-env": "production" };
      const forbidden = await key.rest("GET", "/events", { headers: production });
      assert.deepEqual(code(forbidden), [403, "environment_forbidden"]);
      assert.match(forbidden.body.error, /restricted to staging/);
      const stream = await fetch(`${service.url}/v1/events/stream`, { headers: { ...key.headers, ...production } });
      assert.equal(stream.status, 403);
      await stream.body?.cancel();

      const made = await key.rest("POST", "/webhooks", { body: { name: "mine", transform: ECHO }, ...staging });
      assert.equal(made.status, 201);
      assert.equal((await key.rest("PUT", `/webhooks/${made.body.data.id}`, { body: { name: "still mine" } })).status, 200);
      const smuggled = await key.rest("POST", "/webhooks", { body: { name: "x", transform: ECHO, environment: "production" }, ...staging });
      assert.deepEqual(code(smuggled), [403, "environment_forbidden"], "the field of the body is checked as well");
      const outside: [string, string, object?][] = [
        ["GET", ""],
        ["PUT", "", { name: "x" }],
        ["DELETE", ""],
        ["POST", "/rotate"],
        ["GET", "/versions"],
        ["GET", "/requests"],
        ["GET", "/requests/none"],
        ["GET", "/requests/stream"],
        ["GET", "/stats"],
        ["POST", "/requests/none/replay"],
        ["POST", "/test", {}],
        ["POST", "/backtest", { transform: ECHO }],
      ];
      for (const [method, rest, body] of outside) {
        const answer = await key.rest(method, `/webhooks/${elsewhere.id}${rest}`, { ...(body && { body }), ...staging });
        assert.deepEqual(code(answer), [404, "webhook_not_found"], `${method} ${rest}`);
      }
      const tried = await key.rest("POST", "/transforms/test", {
        body: { transform: ECHO, webhookId: elsewhere.id, requestId: "x" },
        ...staging,
      });
      assert.deepEqual(code(tried), [404, "webhook_not_found"]);
    },

    "every other call outside the limits is refused, whichever it is": async (service) => {
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      const key = await makeApiKey(service, { environments: ["staging"] });
      const rest = (await operations(service)).filter(([method, path]) => !BY_ID.test(path) && !ANSWERED.includes(`${method} ${path}`));
      assert.ok(rest.length > 20);
      for (const [method, path] of rest) {
        const answer = await key.rest(method, path.replace(/\{\w+\}/g, "none"), { headers: { "x-service-env": "production" } });
        assert.deepEqual(code(answer), [403, "environment_forbidden"], `${method} ${path}`);
      }
    },

    "what concerns the installation needs a key without limits": async (service) => {
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      const key = await makeApiKey(service, { environments: ["staging"] });
      const staging = { headers: { "x-service-env": "staging" } };
      for (const [method, path, body] of [
        ["POST", "/keys", { kind: "api", name: "k" }],
        ["GET", "/sessions"],
        ["DELETE", "/sessions/none"],
        ["POST", "/environments", { name: "other" }],
        ["PUT", "/environments/staging", { retention: { events: "1m" } }],
        ["POST", "/environments/staging/archive"],
        ["POST", "/environments/staging/unarchive"],
        ["POST", "/environments/staging/move", { database: "directory" }],
      ] as [string, string, object?][]) {
        const answer = await key.rest(method, path, { ...(body && { body }), ...staging });
        assert.deepEqual(code(answer), [403, "environment_forbidden"], `${method} ${path}`);
      }
      const { body } = await key.rest("GET", "/environments");
      assert.deepEqual(
        body.data.map(({ name }: { name: string }) => name),
        ["staging"],
        "it sees the environments it may use",
      );
    },

    "branch as a limit stands for every branch environment, also ones made later": async (service) => {
      const key = await makeApiKey(service, { environments: ["branch"], role: "read" });
      await service.rest("POST", "/environments", { body: { name: "pr-1", kind: "branch" } });
      await service.rest("POST", "/environments", { body: { name: "staging" } });
      const status = async (name: string) => (await key.rest("GET", "/events", { headers: { "x-service-env": name } })).status;
      assert.deepEqual([await status("branch"), await status("pr-1"), await status("staging")], [200, 200, 403]);
    },
  }),
);

const REPAIRS =
  /^\/(runs\/\{id\}\/(cancel|rerun|release|steps\/\{stepId\}\/wake)|holds\/\{id\}\/release|webhooks\/\{id\}\/(requests\/\{requestId\}\/replay|test|backtest|drill|reconcile)|transforms\/test|apps$|session$|jobs|functions\/\{id\}\/(pause|resume))/;

test("the first owner is made by an admin, and from then on owners are made and removed by owners", async (t) => {
  const service = await startTestService(t);
  const owner = await makeApiKey(service, { role: "owner" });
  const another = { body: { kind: "api", name: "second", role: "owner" } };
  assert.deepEqual(code(await service.rest("POST", "/keys", another)), [403, "role_forbidden"]);
  assert.deepEqual(code(await service.rest("DELETE", `/keys/${owner.id}`)), [403, "role_forbidden"]);
  assert.deepEqual(code(await service.rest("PUT", `/keys/${owner.id}`, { body: { role: "viewer" } })), [403, "role_forbidden"]);
  const admin = await makeApiKey(service, { role: "admin" });
  assert.deepEqual(code(await admin.rest("PUT", `/keys/${admin.id}`, { body: { role: "owner" } })), [403, "role_forbidden"]);
  const second = await owner.rest("POST", "/keys", another);
  assert.equal(second.status, 201);
  assert.equal((await owner.rest("DELETE", `/keys/${second.body.data.id}`)).status, 200);
});

test("an owner of some environments is managed by admins, and is not the first owner", async (t) => {
  const service = await startTestService(t);
  const limited = await makeApiKey(service, { role: "owner", environments: ["production"] });
  assert.equal((await service.rest("PUT", `/keys/${limited.id}`, { body: { name: "renamed" } })).status, 200);
  const owner = await makeApiKey(service, { role: "owner" });
  const widened = { body: { environments: null } };
  assert.deepEqual(code(await service.rest("PUT", `/keys/${limited.id}`, widened)), [403, "role_forbidden"], "only owners make owners");
  assert.deepEqual(code(await service.rest("DELETE", `/keys/${owner.id}`)), [403, "role_forbidden"]);
  assert.equal((await service.rest("DELETE", `/keys/${limited.id}`)).status, 200);
});

/** Found by their ids, in whichever environment: each handler checks, which the tests around this one hold it to. */
const BY_ID = /^\/(webhooks|keys|environments)\/\{|^\/transforms\/|^\/session$/;
/** Answered with what the key may see; or made where the body says. */
const ANSWERED: readonly string[] = ["GET /environments", "GET /audit-log", "GET /usage", "GET /find", "POST /keys", "POST /webhooks"];

test("limits are checked when the key is made, and a limited key does not count as the last admin", async (t) => {
  const service = await startTestService(t);
  const make = (extra: object) => service.rest("POST", "/keys", { body: { kind: "api", name: "k", ...extra } });
  for (const extra of [
    { environments: [] },
    { environments: ["nowhere"] },
    { environments: "staging" },
    { environments: ["production", "production"] },
    { kind: "event", environments: ["production"] },
    { role: "superuser" },
  ]) {
    assert.deepEqual(code(await make(extra)), [400, "request_invalid"], JSON.stringify(extra));
  }
  await makeApiKey(service, { environments: ["production"] });
  const { body } = await service.rest("GET", "/keys?kind=api");
  const full = body.data.find(({ environments }: { environments: unknown }) => environments === null);
  assert.deepEqual(code(await service.rest("DELETE", `/keys/${full.id}`)), [409, "key_last"], "a limited admin cannot make keys");
  for (const change of [{ role: "viewer" }, { environments: ["production"] }])
    assert.deepEqual(code(await service.rest("PUT", `/keys/${full.id}`, { body: change })), [409, "key_last"]);
  assert.equal((await service.rest("PUT", `/keys/${full.id}`, { body: { name: "the only one" } })).status, 200);
});
