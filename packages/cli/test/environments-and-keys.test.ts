import assert from "node:assert/strict";
import { test } from "../../server/test/support/both-stores.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

test("an environment is created, listed, archived and taken back; CI may ask twice", async (t, store) => {
  const place = workingFolder(t, (await startServer(t)).variables);
  const made = await place.inlet(["env", "create", "feature/cart"]);
  assert.deepEqual([made.code, made.stdout], [0, "Created the branch environment feature/cart.\n"]);
  const again = await place.inlet(["env", "create", "feature/cart"]);
  assert.deepEqual([again.code, /environment_exists/.test(again.stderr)], [1, true]);
  assert.equal((await place.inlet(["env", "create", "feature/cart", "--if-missing"])).code, 0);
  assert.equal((await place.inlet(["env", "archive", "feature/cart"])).code, 0);
  assert.match((await place.inlet(["env", "list"])).stdout, /^feature\/cart +branch +\S+Z +\S+Z$/m);
  const back = await place.inlet(["env", "create", "feature/cart", "--if-missing", "--json"]);
  assert.equal(JSON.parse(back.stdout).archivedAt, null);
  await place.inlet(["env", "archive", "feature/cart"]);
  assert.match((await place.inlet(["env", "unarchive", "feature/cart"])).stdout, /active again/);
  const custom = await place.inlet(["env", "create", "staging", "--kind", "custom"]);
  assert.equal(custom.code, 0);
  assert.match(custom.stdout, /shown only now:\n {2}event key +evk_\S+\n {2}signing key +signkey-staging-[0-9a-f]{64}\n$/);
  const { data } = JSON.parse((await place.inlet(["env", "list", "--json"])).stdout);
  assert.deepEqual(
    data.map(({ name, kind }: { name: string; kind: string }) => `${name} ${kind}`),
    ["staging custom", "feature/cart branch", "production default"],
  );
  const limited = await place.inlet(["env", "quotas", "staging", "--events-per-day", "10", "--calls-at-once", "2"]);
  assert.match(limited.stdout, /^eventsPerDay +0 +10 +0 %$/m);
  const freed = await place.inlet(["env", "quotas", "staging", "--calls-at-once", "none", "--json"]);
  assert.deepEqual([JSON.parse(freed.stdout).quotas.eventsPerDay, JSON.parse(freed.stdout).quotas.callsAtOnce], [10, null]);
  const mistaken = await place.inlet(["env", "quotas", "staging", "--events-per-day", "0"]);
  assert.deepEqual([mistaken.code, /--events-per-day takes a positive number/.test(mistaken.stderr)], [2, true]);
  assert.equal((await place.inlet(["usage"])).stdout, "No usage in that time.\n");
  const recent = await place.inlet(["usage", "--from", "2h", "--to", "1h"]);
  assert.deepEqual([recent.code, recent.stdout], [0, "No usage in that time.\n"], recent.stderr);
  assert.match((await place.inlet(["usage", "--from", "soon"])).stderr, /--from must be a duration such as 15m or 2h, ISO 8601/);
  assert.match(
    (await place.inlet(["databases", "list"])).stdout,
    /^NAME +REACHABLE +BYTES +ENVIRONMENTS\ndirectory +yes +[\d,]+ +production, feature\/cart, staging$/m,
  );
  const added = await place.inlet(["databases", "add", "eu", "-"], "postgres://u:hunter2@127.0.0.1:1/x\n");
  const reason = store === "sqlite" ? /databases_unsupported/ : /database_unreachable/;
  assert.deepEqual([added.code, reason.test(added.stderr), added.stderr.includes("hunter2")], [1, true, false], added.stderr);
  assert.match(
    (await place.inlet(["databases", "add", "eu", "mysql://u:hunter2@h/x"])).stderr,
    /^error: The URL must begin with postgres:\/\//m,
  );
  assert.match((await place.inlet(["env", "create", "x", "--kind", "custom", "--database", "eu"])).stderr, /database_not_found/);
  const permanent = await place.inlet(["env", "archive", "production"]);
  assert.deepEqual([permanent.code, /environment_permanent/.test(permanent.stderr)], [1, true]);
  assert.match((await place.inlet(["env", "create", "x", "--kind", "other"])).stderr, /--kind must be one of branch, custom, not "other"/);
});

test("a key is printed alone, works, and stops working when it is revoked", async (t) => {
  const place = workingFolder(t, (await startServer(t)).variables);
  const made = await place.inlet(["keys", "create", "shop", "--allow-name", "shop/*"]);
  assert.match(made.stdout, /^evk_\S+\n$/);
  assert.match(made.stderr, /Created the event key shop of production \(\S+\)\. It is shown only once:/);
  const key = made.stdout.trim();
  const send = (name: string) => place.inlet(["send", "--name", name, "--key", key]);
  assert.deepEqual([(await send("shop/a")).code, (await send("blog/a")).code], [0, 4]);

  const keys = async () => (await place.inlet(["keys", "list"])).stdout;
  await place.inlet(["keys", "create", "office", "--allow-name", "a", "--allow-name", "b", "--allow-ip", "10.0.0.0/8"]);
  assert.match(await keys(), /^ID .* CREATED +RESTRICTED TO$/m);
  assert.match(await keys(), /^\S+ +event +shop .*Z +names shop\/\*$/m);
  assert.match(await keys(), /^\S+ +event +office .*Z +names a, b; addresses 10\.0\.0\.0\/8$/m);

  const [, id = ""] =
    /^(\S+) +event +shop +evk_\S+ +production/m.exec((await place.inlet(["keys", "list", "--kind", "event"])).stdout) ?? [];
  assert.match((await place.inlet(["keys", "revoke", id])).stdout, /^Revoked the event key shop/);
  assert.equal((await send("shop/a")).code, 4);
  assert.equal((await place.inlet(["keys", "revoke", id])).code, 1);

  const reader = JSON.parse((await place.inlet(["keys", "create", "ci", "--kind", "api", "--role", "read", "--json"])).stdout);
  assert.equal(reader.role, "read");
  assert.equal((await place.inlet(["env", "list", "--api-key", reader.key])).code, 0);
  const denied = await place.inlet(["env", "create", "x", "--api-key", reader.key]);
  assert.deepEqual([denied.code, /role_forbidden[\s\S]*inlet keys create/.test(denied.stderr)], [4, true]);

  await place.inlet(["env", "create", "staging", "--kind", "custom"]);
  const limited = (await place.inlet(["keys", "create", "s", "--kind", "api", "--only-env", "staging"])).stdout.trim();
  assert.match(await keys(), /^\S+ +api +s .*Z +environments staging$/m);
  assert.match(await keys(), /^\S+ +api +ci .*Z +-$/m);
  const list = (...flags: string[]) => place.inlet(["events", "list", "--api-key", limited, ...flags]);
  assert.deepEqual([(await list("--env", "staging")).code, (await list()).code, (await list("--env", "production")).code], [0, 0, 4]);
});
