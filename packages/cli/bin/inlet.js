#!/usr/bin/env node
/*
 * The entry of the `inlet` command: checks the version of Node, turns on the compile cache, then runs the sources, or what was built
 * from them when this is an installed package. Plain JavaScript that Node 20 can read, because the cache has to be on before Node
 * meets the first TypeScript file, and an old Node has to get a sentence instead of a stack. The variable hands the cache on to worker
 * threads. With a warm cache Node does not even load its type stripper: the start is quicker, and less memory is held.
 */

import { existsSync } from "node:fs";
import module from "node:module";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `error: inlet needs Node 22.19 or newer, and this is Node ${process.versions.node}. Install a newer one from https://nodejs.org.`,
  );
  process.exitCode = 1;
} else {
  module.enableCompileCache();
  process.env.NODE_COMPILE_CACHE ??= module.getCompileCacheDir();
  const source = new URL("../src/main.ts", import.meta.url);
  await import(existsSync(source) ? source.href : "../dist/cli/src/main.js");
}
