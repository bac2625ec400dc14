import assert from "node:assert/strict";
import crypto from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { KeyId } from "@inlet/protocol";
import type { Environment, Store } from "../../store/contract/index.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { Directory, hashKey } from "./directory.ts";

const KEY = {
  id: "key_1" as KeyId,
  kind: "event",
  name: "key",
  prefix: "",
  secret: null,
  role: null,
  environments: null,
  eventNames: null,
  ips: null,
  createdAt: 1,
} as const;

function openStore(t: TestContext): Store {
  const folder = mkdtempSync(join(tmpdir(), "inlet-directory-"));
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined });
  t.after(async () => {
    await store.stop();
    rmSync(folder, { recursive: true });
  });
  return store;
}

async function directoryWithKey(t: TestContext, text: string): Promise<Directory> {
  const store = openStore(t);
  const environment = await store.environmentInsert({ name: "production", kind: "default", createdAt: 1, bodyBytesMax: null });
  await store.keyInsert({ ...KEY, environmentId: environment?.id ?? null, hash: hashKey(text) });
  const directory = new Directory(store);
  await directory.refresh();
  return directory;
}

test("a key that works is hashed once; unknown texts are hashed each time and never remembered", async (t) => {
  const directory = await directoryWithKey(t, "known");
  const hashed = t.mock.method(crypto, "createHash");
  syncBuiltinESMExports();
  t.after(() => syncBuiltinESMExports());
  const hashes = (look: () => void) => {
    const before = hashed.mock.callCount();
    look();
    return hashed.mock.callCount() - before;
  };
  assert.equal(
    hashes(() => directory.eventKey("known")),
    1,
  );
  for (let round = 0; round < 2; round++)
    assert.equal(
      hashes(() => {
        for (let n = 0; n < 12_000; n++) assert.equal(directory.eventKey(`unknown ${n}`), null);
      }),
      12_000,
      "nothing is remembered",
    );
  assert.equal(
    hashes(() => assert.equal(directory.eventKey("known")?.name, "key")),
    0,
    "and nothing that works is pushed out",
  );
});

test("a signing key opens nothing before its environment is known: for that, it would be one of every environment", async (t) => {
  const store = openStore(t);
  const secret = `signkey-test-${"0123456789abcdef".repeat(2)}`;
  const environment = await store.environmentInsert({ name: "staging", kind: "custom", createdAt: 1, bodyBytesMax: null });
  assert.ok(environment);
  await store.keyInsert({ ...KEY, kind: "signing", environmentId: environment.id, hash: hashKey(secret), secret });
  let environments: Environment[] = [];
  const directory = new Directory({ ...store, environmentList: async () => environments });
  await directory.refresh();
  assert.equal(directory.signingKeyOf(secret), null);
  environments = [environment];
  await directory.refresh();
  assert.equal(directory.signingKeyOf(secret)?.environmentId, environment.id);
});
