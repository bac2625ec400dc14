/**
 * What the container runs, without Docker: its files in a bare folder, its command, variables, working folder and user. The user only
 * where the test runs as root. `npm run release -- --check` builds and runs the image itself where Docker is there.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../../packages/server/test/support/free-port.ts";
import { onEnd } from "../../packages/server/test/support/on-end.ts";
import { temporaryFolder } from "../../packages/server/test/support/service.ts";
import { ROOT } from "../release/pack-packages.ts";
import { releaseUnderTest } from "../release/release-under-test.ts";
import { run } from "../release/run.ts";
import { readDockerfile } from "./read-dockerfile.ts";

const IMAGE = readDockerfile(readFileSync(join(ROOT, "deploy/image/Dockerfile"), "utf8"));

test("the container's command serves as its user, is healthy, and ends on its stop signal", async (t) => {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  const inImage = await unpackImage(folder);
  const user = userOf(inImage(IMAGE.volume));
  const variables = { ...IMAGE.variables, INLET_DATA_DIR: inImage(IMAGE.volume), INLET_PORT: String(await freePort()) };
  const options = { cwd: inImage(IMAGE.folder), env: variables, ...user };
  const [node = "", ...argv] = IMAGE.command.map(inImage);

  const child = spawn(node, argv, options);
  onEnd(t, () => child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (printed += chunk));
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  const [probe = "", ...words] = IMAGE.healthCheck.map(inImage);
  const deadline = Date.now() + 120_000;
  const isHealthy = async () => (await once(spawn(probe, words, options), "exit"))[0] === 0;
  while (!(await isHealthy())) assert.ok(Date.now() < deadline && child.exitCode === null, `not healthy: ${printed}`);

  const [, key = ""] = /event key \(production\)\s+(\S+)/.exec(printed) ?? [];
  const event = { method: "POST", body: '{"name":"a/b","data":{}}' };
  const sent = await fetch(`http://127.0.0.1:${variables.INLET_PORT}/e/${key}`, event);
  assert.equal(sent.status, 200, await sent.text());
  child.kill(IMAGE.stopSignal as NodeJS.Signals);
  const [code] = await once(child, "exit");
  assert.equal(code, 0, printed);
  assert.ok(!(await isHealthy()), "a service that has ended is not healthy");
  const files = readdirSync(inImage(IMAGE.volume));
  assert.ok(files.length > 0, "the store is in the volume");
  for (const file of files) if (user.uid !== undefined) assert.equal(statSync(join(inImage(IMAGE.volume), file)).uid, user.uid, file);
});

/** Lays the context out as the Dockerfile does; where a path of the image is then. */
async function unpackImage(folder: string): Promise<(path: string) => string> {
  const release = await releaseUnderTest();
  const opt = join(folder, "opt/inlet");
  cpSync(join(release.folder, "image"), opt, { recursive: true });
  const { packages } = JSON.parse(readFileSync(join(opt, "package-lock.json"), "utf8")) as { packages: Record<string, unknown> };
  for (const path of Object.keys(packages).filter((name) => existsSync(join(ROOT, name)) && name !== "" && !name.endsWith("@inlet/cli")))
    cpSync(join(ROOT, path), join(opt, path), { recursive: true });
  const own = join(opt, "node_modules/@inlet/cli");
  mkdirSync(own, { recursive: true });
  await run("tar", ["-xzf", join(opt, "inlet-cli.tgz"), "-C", own, "--strip-components=1"], { cwd: folder });
  mkdirSync(join(folder, IMAGE.volume), { recursive: true });
  chmodSync(join(folder, IMAGE.volume), 0o700);
  return (path) => (path === "/nodejs/bin/node" ? process.execPath : path.startsWith("/") ? join(folder, path) : path);
}

function userOf(dataFolder: string): { uid?: number; gid?: number } {
  const [uid = 0, gid = 0] = IMAGE.user.split(":").map(Number);
  const mayRead = process.getuid?.() === 0 && spawnSync(process.execPath, ["--version"], { uid, gid }).status === 0;
  if (!mayRead) return {};
  chownSync(dataFolder, uid, gid);
  return { uid, gid };
}
