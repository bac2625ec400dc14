/** docs/tutorials, docs/how-to/branch-environments.md, docs/how-to/self-hosting.md, docs/how-to/containers.md: their commands are run, their files are used. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { signingKeyBearers } from "@inlet/protocol";
import { readConfig } from "@inlet/server";
import { stopBoundMs } from "../../server/src/service/stop-bound.ts";
import { poll } from "../../server/test/support/app.ts";
import { startInlet } from "../../server/test/support/process.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { readOptions } from "../src/command-line/read-options.ts";
import { LISTEN } from "../src/listen/listen-row.ts";
import { type Guide, masked, readGuide, runScripts, unitOf } from "./support/guide.ts";
import { startGuideApp } from "./support/guide-app.ts";
import { startSmallApp } from "./support/small-app.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

/** Another port than the usual one may be taken on the machine that runs the tests. */
const ANY_PORT = { INLET_PORT: "0" };

async function runGuide(t: TestContext, { steps }: Guide, folder: string, variables: Record<string, string>): Promise<void> {
  const outputs = await runScripts(
    t,
    steps.map(({ script }) => script),
    folder,
    variables,
  );
  for (const [i, { script, shown }] of steps.entries()) {
    if (shown !== null) assert.equal(masked(outputs[i] ?? ""), masked(shown), script);
  }
}

test("the first function runs, and a duplicate starts nothing", async (t) => {
  const guide = readGuide("tutorials/first-function.md");
  const [, command = ""] = /^\$ inlet (.*)$/m.exec(guide.blocks("console")[0] ?? "") ?? [];
  const { url, stdout } = await startInlet(t, [...command.split(" "), "--port", "0", "--discover", "off"]);
  const { folder } = workingFolder(t);
  const app = await startGuideApp(t, join(folder, "app"), guide.blocks("ts")[0] ?? "", { INLET_DEV: url });
  await runScripts(t, [`inlet apps sync ${app}`], folder, { INLET_BASE_URL: url });
  await runGuide(t, guide, folder, { INLET_BASE_URL: url, ...ANY_PORT });
  const completed = await poll(async () => {
    const { data } = (await (await fetch(`${url}/v1/runs?status=completed`)).json()) as { data: unknown[] };
    return data.length > 0 ? data : null;
  }, "the run completes");
  assert.equal(completed.length, 1);
  assert.match(stdout(), /event {6}\S{26} {2}shop\/order\.created[\s\S]*duplicate {2}\S{26} {2}shop\/order\.created/);
});

test("the first webhook receives a request", async (t) => {
  const guide = readGuide("tutorials/first-webhook.md");
  const { url } = await startInlet(t, ["dev", "--ephemeral", "--port", "0", "--discover", "off"]);
  const { folder, exists } = workingFolder(t);
  const outputs = await runScripts(
    t,
    guide.steps.map(({ script }) => script),
    folder,
    { INLET_BASE_URL: url },
  );
  assert.ok(exists("webhooks/stripe/transform.js"));
  assert.match(outputs.at(-1) ?? "", /stripe\/invoice\.paid/);
});

test("to production: the printed keys, and an app that is synced with them", async (t) => {
  const commands = readGuide("tutorials/to-production.md")
    .blocks("console")
    .flatMap((block) =>
      block
        .trim()
        .split("\n")
        .map((line) => line.replace(/^\$ /, "")),
    );
  const [start = "", exported = "", node = "", sync = "", ...others] = commands;
  const { folder } = workingFolder(t);
  const argv = [...start.replace("./data", join(folder, "data")).split(" ").slice(1), "--port", "0", "--host", "127.0.0.1"];
  const service = await startInlet(t, argv);
  const printed = (line: RegExp) => line.exec(service.stdout())?.[1] ?? "";
  const keys: Record<string, string> = {
    INLET_BASE_URL: service.url,
    INLET_API_KEY: printed(/API key \(admin\) +(\S+)/),
    INLET_SIGNING_KEY: printed(/signing key \(production\) +(\S+)/),
    SERVICE_EVENT_KEY: printed(/event key \(production\) +(\S+)/),
  };
  // The page shows how each key begins.
  const variablesOf = (line: string) => {
    const pairs = [...line.matchAll(/(\w+)=([^\s…]+)/g)].map(([, name = "", beginning = ""]) => [name, beginning] as const);
    for (const [name, beginning] of pairs)
      if (name !== "INLET_BASE_URL") assert.ok(keys[name]?.startsWith(beginning), `${name}=${beginning}`);
    return Object.fromEntries(pairs.map(([name]) => [name, keys[name] ?? ""]));
  };
  const code = readGuide("tutorials/first-function.md").blocks("ts")[0] ?? "";
  const app = await startGuideApp(t, join(folder, "app"), code, variablesOf(node));
  const scripts = [sync.replace("http://localhost:3000/", app), ...others];
  const [, functions, sent] = await runScripts(t, scripts, folder, variablesOf(exported));
  assert.match(`${functions}`, /shop\/order\.created/);
  await poll(async () => {
    const headers = { authorization: `Bearer ${keys.INLET_API_KEY}` };
    const answer = await fetch(`${service.url}/v1/events/${sent?.trim().split("\n").at(-1)}/runs`, { headers });
    const { data } = (await answer.json()) as { data: { status: string }[] };
    return data[0]?.status === "completed" ? true : null;
  }, "the run completes");
});

test("branch environments, step by step and as a workflow", async (t) => {
  const guide = readGuide("how-to/branch-environments.md");
  const signingKey = `signkey-prod-${"00ff".repeat(8)}`;
  const { url, variables, rest } = await startServer(t, ["--signing-key", signingKey]);
  const app = await startSmallApp(t, url, { good: () => ({ status: 200, body: null }) }, signingKeyBearers(signingKey)[0]);
  const { INLET_EVENT_KEY: _, ...ofCi } = variables;
  const PREVIEW_URL = new URL(app.url).origin;
  const { folder } = workingFolder(t);
  await runGuide(t, guide, folder, { ...ofCi, PREVIEW_URL });

  const [workflow = ""] = guide.blocks("yaml");
  const runs = [...workflow.matchAll(/^ +- run: (npx .*)$/gm)].map(([, script = ""]) => script);
  assert.equal(runs.length, 3);
  await runScripts(t, runs, folder, { ...ofCi, PREVIEW_URL, BRANCH: "feature/checkout" });
  const environments = (await rest("GET", "/environments")) as { name: string; kind: string; archivedAt: string | null }[];
  const branches = environments.filter(({ kind }) => kind === "branch").map(({ name, archivedAt }) => [name, archivedAt !== null]);
  assert.deepEqual(branches, [
    ["feature/checkout", true],
    ["feature/cart", true],
  ]);
  assert.equal((await rest("GET", "/functions", undefined, "feature/checkout")).length, 1, "the preview's functions were synced there");
  const slug = await runScripts(t, [`BRANCH='fix: ünïcode #7'; echo "\${BRANCH//[^A-Za-z0-9._\\/-]/-}"`], folder, { LC_ALL: "C.UTF-8" });
  assert.match(slug[0] ?? "", /^[A-Za-z0-9._/-]+\n$/);
});

test("the systemd unit starts a service that knows its public address and its clients", async (t) => {
  const guide = readGuide("how-to/self-hosting.md");
  const { argv, setting, placeholders, variables } = unitOf(guide);
  const [mode, ...flags] = argv;
  assert.equal(mode, "start");
  assert.throws(
    () => readConfig("start", flags, placeholders),
    /INLET_EVENT_KEY is a placeholder[\s\S]*INLET_SIGNING_KEY is a placeholder/,
  );
  const config = readConfig("start", flags, variables);
  assert.ok(Number.parseInt(setting("TimeoutStopSec"), 10) * 1_000 > stopBoundMs(config));
  assert.deepEqual(
    [setting("KillSignal"), setting("StateDirectoryMode"), `/var/lib/${setting("StateDirectory")}`],
    ["SIGTERM", "0700", config.dataDir],
  );

  const dataDir = join(temporaryFolder(t), "data");
  const here = argv.map((word) => (word === config.dataDir ? dataDir : word === String(config.port) ? "0" : word));
  const inlet = await startInlet(t, here, variables);
  assert.ok(!/evk_|ak_|signkey-/.test(inlet.stdout().replace(/event key \(all branches\).*/, "")), "chosen keys are not printed");
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${inlet.url}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${variables.INLET_API_KEY}`,
        "content-type": "application/json",
        "x-forwarded-for": "203.0.113.7",
      },
    });
  const transform = "() => ({ name: 'a/b', data: {} })";
  const made = await call("/v1/webhooks", { method: "POST", body: JSON.stringify({ name: "hook", transform }) });
  const { data } = (await made.json()) as { data: { id: string; url: string } };
  assert.match(data.url, /^https:\/\/inlet\.example\.com\/e\//);
  assert.equal((await call(new URL(data.url).pathname, { method: "POST", body: "{}" })).status, 200);
  const requests = (await (await call(`/v1/webhooks/${data.id}/requests`)).json()) as { data: { ip: string }[] };
  assert.equal(requests.data[0]?.ip, "203.0.113.7");

  const { folder } = workingFolder(t);
  const scripts = guide.steps.map(({ script }) => script.replace("https://inlet.example.com", inlet.url));
  const [BACKUP, restoredDir] = [join(folder, "one.backup"), join(folder, "restored")];
  await runScripts(t, scripts, folder, { ...variables, ...ANY_PORT, DATA_DIR: dataDir, BACKUP });
  assert.equal(await inlet.end("SIGTERM"), 0);
  await runScripts(t, ['inlet restore --from "$BACKUP" --data-dir "$RESTORED"'], folder, { BACKUP, RESTORED: restoredDir });
  const restored = await startInlet(
    t,
    here.map((word) => (word === dataDir ? restoredDir : word)),
    variables,
  );
  const events = await fetch(`${restored.url}/v1/events`, { headers: { authorization: `Bearer ${variables.INLET_API_KEY}` } });
  assert.equal(((await events.json()) as { data: unknown[] }).data.length, 1, "the backup has what was there");
  await restored.end("SIGTERM");
});

test("the command that makes the keys makes all that the unit needs", async (t) => {
  const guide = readGuide("how-to/self-hosting.md");
  const [, script = ""] = /^# (for kind in .*) > \/etc\/inlet\.env$/m.exec(guide.text) ?? [];
  const [made = ""] = await runScripts(t, [script], temporaryFolder(t), {});
  const keys = Object.fromEntries(
    made
      .trim()
      .split("\n")
      .map((line) => line.split("=", 2) as [string, string]),
  );
  assert.deepEqual(Object.keys(keys).sort(), Object.keys(unitOf(guide).placeholders).sort());
  assert.equal(readConfig("start", unitOf(guide).argv.slice(1), keys).signingKey.length, 1);

  const { folder, read, write } = workingFolder(t);
  write("deploy/compose.yaml", "");
  const [forContainers = ""] = readGuide("how-to/containers.md").blocks("sh");
  // The image's entry point is `inlet`.
  await runScripts(t, [`docker() { [ "$*" = "run --rm inlet \${*:4}" ] && inlet "\${@:4}"; }\n${forContainers}`], folder, {});
  assert.match(read("deploy/inlet.env"), /^INLET_EVENT_KEY=evk_\w+\nINLET_API_KEY=ak_\w+\nINLET_SIGNING_KEY=signkey-prod-[0-9a-f]+\n$/);
});

test("the nginx configuration goes with the unit, and its tables explain lines that are there", () => {
  const guide = readGuide("how-to/self-hosting.md");
  const { argv, variables } = unitOf(guide);
  const config = readConfig("start", argv.slice(1), variables);
  const [nginx = ""] = guide.blocks("nginx");
  const lines = nginx
    .trim()
    .split("\n")
    .map((line) => line.trim());
  for (const line of lines.filter(Boolean)) assert.match(line, /^#|[;{}]$/, line);
  assert.equal(nginx.split("{").length, nginx.split("}").length);
  const directive = (name: string) => new RegExp(`^\\s*${name} (.*);$`, "m").exec(nginx)?.[1] ?? "";
  assert.equal(directive("proxy_pass"), `http://${config.host}:${config.port}`);
  assert.equal(`https://${directive("server_name")}`, config.publicUrl);
  assert.deepEqual(config.trustProxy, [config.host], "nginx connects from this address");
  assert.ok(Number.parseInt(directive("client_max_body_size"), 10) * 1024 * 1024 > Math.max(config.bodyLimit, 4 * 1024 * 1024));
  assert.ok(Number.parseInt(directive("proxy_read_timeout"), 10) > 15);
  assert.deepEqual(
    [directive("proxy_buffering"), directive("proxy_request_buffering"), directive("proxy_http_version")],
    ["off", "off", "1.1"],
  );
  for (const header of ["Host $host", "X-Forwarded-For $remote_addr", "X-Forwarded-Proto $scheme"]) {
    assert.ok(nginx.includes(`proxy_set_header ${header};`), header);
  }
  const explained = [...guide.text.matchAll(/^\| `([^`]+)`/gm)].map(([, word = ""]) => word);
  const files = [nginx, guide.blocks("systemd")[0], "GET"].join("\n");
  for (const word of explained) assert.ok(files.includes(word), word);
});

test("the commands of the guide to forwarding are commands, and its state file is the one used", () => {
  const { text } = readGuide("how-to/forwarding.md");
  const commands = [...text.matchAll(/`inlet (listen [^`]*)`/g)].map(([, words = ""]) => words.replaceAll("'", "").split(" "));
  assert.equal(commands.length, 5);
  for (const [, ...argv] of commands) readOptions(LISTEN, argv, {});
  assert.ok(text.includes(`\`${LISTEN.flags.state?.fallback}\``));
});
