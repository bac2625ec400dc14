/*
 * Runs before `npm start`, `npm test` and similar commands: installs the dependencies if they are missing or older than the
 * lockfile. Plain old JavaScript, because it runs on the Node of the machine (20 or newer); the service itself runs on
 * the Node that this installs.
 */

"use strict";

const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const root = path.join(__dirname, "..");

function modifiedAt(file) {
  try {
    return fs.statSync(path.join(root, file)).mtimeMs;
  } catch {
    return 0;
  }
}

/** npm writes this file at the end of every install. */
const installedAt = modifiedAt("node_modules/.package-lock.json");

if (installedAt === 0 || installedAt < modifiedAt("package-lock.json")) {
  console.log("Installing dependencies (this happens once) ...");
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  const { status } = spawnSync(npm, ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) {
    console.error("npm ci failed; the messages above say why.");
    process.exit(status || 1);
  }
  const now = new Date();
  fs.utimesSync(path.join(root, "node_modules/.package-lock.json"), now, now);
}
