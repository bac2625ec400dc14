/**
 * The `inlet` command as a few files. A process that runs it loads them in half the CPU time that more than a thousand sources take, and tests
 * start hundreds. The code is that of the sources: only imports are resolved beforehand. What a file finds by its own URL (migrations,
 * threads, the dashboard, documentation) is found beside its source.
 */

import { renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type InlineConfig, type Plugin, type Rollup } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCE = join(ROOT, "packages/cli/src/main.ts");

/** Returns the path of the program: in a folder of this one that is named after its content, so that runs at the same time disturb nobody. */
export async function bundleProgram(folder: string): Promise<string> {
  const building = join(folder, `building-${process.pid}`);
  const { output } = (await build(configOf(building))) as Rollup.RollupOutput;
  const program = output[0].fileName;
  const built = join(folder, basename(program, ".mjs"));
  try {
    renameSync(building, built);
  } catch {
    // There already.
    rmSync(building, { recursive: true });
  }
  return join(built, program);
}

function configOf(outDir: string): InlineConfig {
  return {
    configFile: false,
    root: ROOT,
    logLevel: "error",
    publicDir: false,
    plugins: [keepSourceUrls],
    ssr: { noExternal: true },
    build: {
      ssr: SOURCE,
      outDir,
      emptyOutDir: true,
      minify: false,
      target: "node24",
      rolldownOptions: { output: { entryFileNames: "inlet-[hash].mjs", chunkFileNames: "[name]-[hash].mjs" } },
    },
  };
}

const keepSourceUrls: Plugin = {
  name: "keep-source-urls",
  enforce: "pre",
  transform: (code, id) =>
    code.includes("import.meta.url") ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href)) : null,
};
