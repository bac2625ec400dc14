/** The dashboard build: one entry, pages and editor loaded on demand, and every file also compressed, so that serving is cheap. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Smaller files are not worth compressing. */
const WORTH_COMPRESSING_BYTES = 1_024;
/** 9 of 11: nearly the smallest size at a fraction of the time. The build runs before the first start. */
const BROTLI_QUALITY = 9;

function compressed(): Plugin {
  let folder = "";
  return {
    name: "compressed",
    apply: "build",
    configResolved: ({ root, build }) => {
      folder = join(root, build.outDir, build.assetsDir);
    },
    closeBundle() {
      for (const name of readdirSync(folder).filter((file) => /\.(?:js|css|svg)$/.test(file))) {
        const bytes = readFileSync(join(folder, name));
        if (bytes.length < WORTH_COMPRESSING_BYTES) continue;
        writeFileSync(
          join(folder, `${name}.br`),
          brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
        );
        writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes));
      }
    },
  };
}

/** Modules of one page that others use too. */
const OF_SEVERAL_PAGES =
  "src/(?:runs/(?:run-table|failure-groups)|keys/accept-list-field|alerts/(?:usual-rhythm|alert-words)|lists/span-\\w+|jobs/(?:job-(?:status|words|progress)|drill-report))\\.";

/** The parts with all that they import: the first takes what the later ones import too. */
const SHARED_PARTS = [
  {
    name: "shared",
    test: new RegExp(
      `node_modules/(?:react|react-dom|scheduler|@tanstack)/|src/(?:api|shell|events|overview|ui)/(?!chart\\.|events-chart|axis-labels)|${OF_SEVERAL_PAGES}`,
    ),
    priority: 3,
  },
  { name: "charts", test: /uplot|src\/(?:ui\/chart\.|events\/events-chart|runs\/runs-chart|lists\/list-chart)/, priority: 2 },
  { name: "editor", test: /@codemirror|@lezer|src\/editor\/(?!lazy)/, priority: 1 },
];

/** `npm run dev:dashboard` serves the sources and proxies API calls to this service. */
const SERVICE = "http://localhost:8288";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compressed()],
  logLevel: "warn",
  build: {
    target: "es2023",
    outDir: "dist",
    emptyOutDir: true,
    // One file of styles: a second one for the charts would cost a request.
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    // What most pages share is loaded with the first one: a file for each part of it would cost a request each.
    rolldownOptions: { output: { codeSplitting: { groups: SHARED_PARTS } } },
  },
  server: { proxy: { "/v1": SERVICE, "/e": SERVICE, "/health": SERVICE } },
});
