/*
 * Runs before `npm start`, `npm run dev` and `npm test`: builds the dashboard if there is no build, or if it is older than
 * its sources. A failed build is reported and does not stop the service, which works without it. Plain old JavaScript, for the
 * Node of the machine.
 */

"use strict";

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.join(__dirname, "..");
const dashboard = path.join(root, "packages/dashboard");
const SOURCES = ["src", "public", "index.html", "vite.config.ts", "package.json"];

function newestIn(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  // The folder's own time counts too: it changes when a file is removed.
  return fs.readdirSync(file).reduce((newest, name) => Math.max(newest, newestIn(path.join(file, name))), stat.mtimeMs);
}

function builtAt() {
  const stat = fs.statSync(path.join(dashboard, "dist/index.html"), { throwIfNoEntry: false });
  return stat ? stat.mtimeMs : 0;
}

const changedAt = Math.max(...SOURCES.map((name) => newestIn(path.join(dashboard, name))));

if (builtAt() < changedAt) {
  console.log("Building the dashboard ...");
  const bin = path.join(root, "node_modules/.bin");
  const { status } = spawnSync(path.join(bin, process.platform === "win32" ? "vite.cmd" : "vite"), ["build"], {
    cwd: dashboard,
    stdio: ["ignore", "inherit", "inherit"],
    // The pinned Node, also where this script was not started by npm.
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` },
    shell: process.platform === "win32",
  });
  if (status !== 0) console.error("The dashboard could not be built; the messages above say why. The service runs without it.");
}
