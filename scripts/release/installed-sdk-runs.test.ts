/** The SDK as users get it: the package of a release, installed offline into an empty project, type-checked and run there. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { driveRun } from "../../packages/sdk/test/drive-run.ts";
import { startRecordingService } from "../../packages/sdk/test/recording-service.ts";
import { runNpm } from "../../packages/server/test/support/npm.ts";
import { releaseUnderTest } from "./release-under-test.ts";

const NODE_MODULES = fileURLToPath(new URL("../../node_modules", import.meta.url));
const QUIET = { npm_config_audit: "false", npm_config_fund: "false", npm_config_update_notifier: "false", npm_config_loglevel: "error" };

const APP = `
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Inlet, NonRetriableError, type StepResult } from "@inlet/sdk";
import { encryptionMiddleware } from "@inlet/sdk/encryption";
import * as express from "@inlet/sdk/express";
import * as fastify from "@inlet/sdk/fastify";
import * as fetchHandler from "@inlet/sdk/fetch";
import * as hono from "@inlet/sdk/hono";
import * as next from "@inlet/sdk/next";
import { serve } from "@inlet/sdk/node";
import { runFunction } from "@inlet/sdk/testing";

const plain = { name: "plain", beforeFunction: () => ({ year: (text: string) => text.slice(0, 4) }) };
new Inlet({ id: "sealed", middleware: [encryptionMiddleware({ key: "0a".repeat(32) })] });
const inlet = new Inlet({ id: "shop", isDev: true, middleware: [plain] });
const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step, year }) => {
  if (!event.data.orderId) throw new NonRetriableError("no order");
  const label: StepResult<{ at: Date }> = await step.run("label", () => ({ at: new Date(0) }));
  const { ids } = await step.sendEvent("announce", { name: "shop/order.shipped", data: label });
  return { at: year(label.at), sent: ids.length };
});
for (const adapter of [express, fastify, fetchHandler, hono, next]) adapter.serve({ client: inlet, functions: [ship] });
const { result } = await runFunction(ship, { event: { data: { orderId: "1" } } });
console.log(JSON.stringify(result));
const server = createServer(serve({ client: inlet, functions: [ship] }));
server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + (server.address() as AddressInfo).port));
`;

/** What users write with a framework; only its types are checked here. */
const FRAMEWORKS = `
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import express from "express";
import { Inlet } from "@inlet/sdk";
import { serve as serveExpress } from "@inlet/sdk/express";
import { serve } from "@inlet/sdk/node";

const options = { client: new Inlet({ id: "shop" }), functions: [] };
createServer(serve(options));
createHttp2Server(serve(options));
express().use("/api/inlet", express.json(), serveExpress(options));
express().all("/api/inlet", serveExpress(options));
`;

/** The types of Node that the repository uses, and the newest. */
const NODE_TYPES = ["@types/node", "types-node-newest"];

test("the packed package installs without dependencies, type-checks and runs", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "inlet-sdk-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const project = await installInto(folder);
  for (const types of NODE_TYPES) typeCheck(project, types);
  const service = await startRecordingService(t);
  const app = spawn(process.execPath, ["app.ts"], {
    cwd: project,
    env: { ...process.env, INLET_BASE_URL: service.url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => app.kill());
  const lines = createInterface(app.stdout)[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, '{"at":"1970","sent":1}');
  const url = String((await lines.next()).value);
  const { output } = await driveRun({ url, functionId: "shop-ship", event: { name: "shop/order.created", data: { orderId: "1" } } });
  assert.deepEqual(output, { at: "1970", sent: 1 });
  assert.deepEqual(
    [...service.events.values()].map(({ name }) => name),
    ["shop/order.shipped"],
  );
});

async function installInto(folder: string): Promise<string> {
  const { sdk: tarball } = await releaseUnderTest();
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"name":"project","private":true,"type":"module"}');
  runNpm(["install", "--offline", tarball], { cwd: project, env: { ...process.env, ...QUIET } });
  const installed = JSON.parse(readFileSync(join(project, "node_modules/@inlet/sdk/package.json"), "utf8")) as Record<string, unknown>;
  assert.deepEqual([installed.dependencies, installed.private, installed.scripts], [undefined, undefined, undefined]);
  return project;
}

/** With declarations checked too, under a compiler set up as users do. */
function typeCheck(project: string, nodeTypes: string): void {
  writeFileSync(join(project, "app.ts"), APP);
  writeFileSync(join(project, "frameworks.ts"), FRAMEWORKS);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2022",
    module: "nodenext",
    types: ["node"],
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["app.ts", "frameworks.ts"] }));
  copyTypes(project, nodeTypes);
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  execFileSync(process.execPath, [join(typescript, "bin/tsc"), "-p", project], { stdio: "inherit" });
}

/** Copies, not links: types find each other by where they are. */
function copyTypes(project: string, nodeTypes: string): void {
  const types = join(project, "node_modules/@types");
  rmSync(types, { recursive: true, force: true });
  cpSync(join(NODE_MODULES, "@types"), types, { recursive: true });
  rmSync(join(types, "node"), { recursive: true, force: true });
  cpSync(join(NODE_MODULES, nodeTypes), join(types, "node"), { recursive: true });
  const undici = [join(NODE_MODULES, nodeTypes, "node_modules/undici-types"), join(NODE_MODULES, "undici-types")];
  cpSync(undici.find((folder) => existsSync(folder)) ?? "", join(project, "node_modules/undici-types"), { recursive: true });
}
