/** The package of a release, installed in an empty folder without a network, and run from its bin as npx would. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { runNpm } from "../../packages/server/test/support/npm.ts";
import { onEnd } from "../../packages/server/test/support/on-end.ts";
import { temporaryFolder } from "../../packages/server/test/support/service.ts";
import { releaseUnderTest } from "./release-under-test.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface PackageFile {
  version: string;
  dependencies: Record<string, string>;
}

function packageFile(name: string): PackageFile {
  return JSON.parse(readFileSync(join(ROOT, "packages", name, "package.json"), "utf8"));
}

async function run(command: string, argv: string[], cwd: string, home: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: home };
  const child = spawn(command, argv, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let [out, all] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (all += chunk));
  const [code] = await once(child, "close");
  assert.equal(code, 0, `${command} ${argv.join(" ")}\n${all}`);
  return out;
}

/** What the package takes from npm is linked from where it is installed already: there is no network here. It needs no install script. */
async function install(t: TestContext): Promise<{ folder: string; inlet: string; home: string }> {
  const [folder, home] = [temporaryFolder(t), temporaryFolder(t)];
  const env = { PATH: process.env.PATH, HOME: home, npm_config_cache: home, npm_config_update_notifier: "false" };
  const { cli: tarball } = await releaseUnderTest();
  const links = Object.keys(packageFile("cli").dependencies).map((name) => [name, `file:${join(ROOT, "node_modules", name)}`]);
  const dependencies = { "@inlet/cli": `file:${tarball}`, ...Object.fromEntries(links) };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "empty", private: true, dependencies }));
  runNpm(["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], { cwd: folder, env });
  return { folder, inlet: join(folder, "node_modules/.bin/inlet"), home };
}

/** Only commands use it: the files of `inlet plan`. */
const OWN = ["yaml"];

test("what the service takes from npm, the package names as well", () => {
  const ofServer = Object.entries(packageFile("server").dependencies).filter(([name]) => !name.startsWith("@inlet/"));
  const ofCli = Object.entries(packageFile("cli").dependencies);
  const notOwn = ofCli.filter(([name]) => !OWN.includes(name));
  assert.deepEqual(Object.fromEntries(notOwn), Object.fromEntries(ofServer));
  assert.deepEqual(
    OWN.filter((name) => !ofCli.some(([known]) => known === name)),
    [],
  );
});

test("installed in an empty folder, it serves, runs transforms, and sends", async (t) => {
  const { folder, inlet, home } = await install(t);
  const packed = globSync("node_modules/@inlet/cli/**/*", { cwd: folder });
  assert.deepEqual(
    packed.filter((file) => /\.ts$|\/test\//.test(file)),
    [],
    "no sources and no tests",
  );
  assert.equal(await run(inlet, ["--version"], folder, home), `${packageFile("cli").version}\n`);

  const child = spawn(inlet, ["dev", "--port", "0", "--discover", "off"], { cwd: folder, env: { PATH: process.env.PATH } });
  onEnd(t, () => child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", () => {
      const [, found] = /^listening on (\S+)$/m.exec(printed) ?? [];
      if (found) resolve(found);
    });
    child.once("exit", () => reject(new Error(printed)));
  });
  const sent = await run(inlet, ["send", "--name", "a/b", "--url", url], folder, home);
  assert.match(sent, /^1 event accepted/);
  assert.match(await run(inlet, ["webhooks", "new", "--from", "stripe"], folder, home), /webhooks\/stripe/);
  const applied = JSON.parse(await run(inlet, ["webhooks", "apply", "--url", url, "--json"], folder, home));
  const body = JSON.stringify({ id: "evt_1", type: "invoice.paid", created: 1 });
  const posted = await fetch(applied.applied[0].url, { method: "POST", body, headers: { "content-type": "application/json" } });
  assert.equal(posted.status, 200, await posted.text());
  assert.match(await run(inlet, ["events", "list", "--url", url], folder, home), /stripe\/invoice\.paid[\s\S]*a\/b/);
  await run(inlet, ["export", "--url", url], folder, home);
  assert.match(await run(inlet, ["plan", "--url", url], folder, home), /^No changes/);
  const page = await fetch(url, { headers: { accept: "text/html" } });
  assert.match(await page.text(), /<script[^>]+src="\/assets\//, "the dashboard is in the package");
  for (const path of ["/docs", "/docs/errors/event_invalid", "/docs/reference/cli.md", "/llms.txt", "/docs/screenshots/event-light.png"])
    assert.equal((await fetch(url + path)).status, 200, path);
  child.kill("SIGTERM");
  const [code] = await once(child, "exit");
  assert.equal(code, 0, printed);
});
