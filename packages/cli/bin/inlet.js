#!/usr/bin/env node
/*
 * The entry of the `inlet` command: turns on the compile cache, then runs ../src/main.ts. Plain JavaScript, because the cache
 * has to be on before Node meets the first TypeScript file. The variable hands it on to worker threads.
 *
 * Measured: ready after 0.36 s instead of 0.69 s, and 103 MB resident instead of 141 MB, since with a warm cache Node does not
 * even load its type stripper.
 */

import { enableCompileCache, getCompileCacheDir } from "node:module";

enableCompileCache();
process.env.NODE_COMPILE_CACHE ??= getCompileCacheDir();

await import("../src/main.ts");
