/** How the dashboard is built: one entry, pages and the editor on demand, every file also compressed, so that serving costs nothing. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Below this a compressed file saves less than a packet. */
const WORTH_COMPRESSING_BYTES = 1_024;
/** 9 of 11: within 3 % of the smallest size, ten times as quick. The build runs before every first start. */
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

/** `npm run dev:dashboard` serves the sources, and asks this service for data. */
const SERVICE = "http://localhost:8288";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), compressed()],
  logLevel: "warn",
  build: { target: "es2023", outDir: "dist", emptyOutDir: true, reportCompressedSize: false, chunkSizeWarningLimit: 700 },
  server: { proxy: { "/v1": SERVICE, "/e": SERVICE, "/health": SERVICE } },
});
